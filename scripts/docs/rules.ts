// What each number stands for, in one sentence or two. docs/conformance.md is generated from this list, from the tests
// and comments that cite a number, and from differences.ts.
import { chartRules } from './chart-rules.ts';
import { leaseRules } from './lease-rules.ts';
import { kubeletRules } from './kubelet-rules.ts';

/** The families of numbers, by their letter. */
export const families = {
  A: 'what the Kubernetes apiserver does during its life and its shutdown',
  H: 'what a Helm chart and a container image do that lose nothing',
  HC: 'what the chart and the image are held against as a whole',
  K: 'what the kubelet does with probes and with a pod that ends',
  L: 'what leader election on a Lease requires beside programs in Go',
  LT: 'scenarios of leader election',
  P: 'hard cases of ending an HTTP server on Node',
} as const;

/** The rule behind each number. */
export const rules: Readonly<Record<string, string>> = {
  'A-001':
    'A lifecycle signal has a name and becomes true once; it stays true, and signaling it again changes nothing.',
  'A-002':
    'There are eight signals: `MuxAndDiscoveryComplete`, `HasBeenReady`, `ShutdownInitiated`, `AfterShutdownDelayDuration`, `PreShutdownHooksStopped`, `NotAcceptingNewRequest`, `InFlightRequestsDrained` and `HTTPServerStoppedListening`.',
  'A-003': '`ShutdownInitiated` is signaled at the request to stop, and from then on `/readyz` answers 500.',
  'A-004':
    '`AfterShutdownDelayDuration` follows `ShutdownInitiated` by exactly the shutdown delay, at once when the delay is 0; nothing shortens the delay.',
  'A-005':
    '`PreShutdownHooksStopped` is signaled when the last pre-shutdown hook has returned, whether it succeeded or failed; the hooks begin together with `ShutdownInitiated`.',
  'A-006':
    '`NotAcceptingNewRequest` waits for the delay and for the pre-shutdown hooks, whichever is later; until then everything is served.',
  'A-007':
    '`InFlightRequestsDrained` waits for the ordinary requests and, when they have a grace period, for the watches.',
  'A-008': 'By default the listener stops at `NotAcceptingNewRequest`, and the requests in flight drain beside that.',
  'A-009': 'With `shutdownSendRetryAfter` the HTTP server stops at `InFlightRequestsDrained`, within two seconds.',
  'A-010':
    'With requests in flight, the default order ends with `NotAcceptingNewRequest`, `HTTPServerStoppedListening`, `InFlightRequestsDrained`.',
  'A-011':
    'With `shutdownSendRetryAfter` the order ends with `NotAcceptingNewRequest`, `InFlightRequestsDrained`, `HTTPServerStoppedListening`, always.',
  'A-012':
    '`HTTPServerStoppedListening` means that no connection is accepted any more; connections that are open may remain.',
  'A-013': '`HasBeenReady` is signaled by the first probe of `/readyz` that passes.',
  'A-014':
    '`MuxAndDiscoveryComplete` is signaled when everything that is to be served is in place, and never once a shutdown has begun.',
  'A-016': 'The server listens first; post-start hooks begin after that, and the wait for the end begins last.',
  'A-018':
    'The run ends only after hooks, drain, audit flush and listener, and the destroy functions come last of all, also when something failed before.',
  'A-020':
    'The whole shutdown has no deadline: hooks and audit flush may take as long as they like, and only the delay, the drain and the stop of the listener are bounded.',
  'A-030': 'SIGINT and SIGTERM begin the shutdown.',
  'A-031': 'The first process signal begins the shutdown; a second one, of either kind, ends the process with code 1.',
  'A-032': 'The process signals are taken once for the whole process.',
  'A-033': 'A shutdown that went well ends the process with code 0, and one that did not with another code.',
  'A-040':
    'A post-start hook needs a function and a unique, non-empty name, and has to be registered before the hooks begin.',
  'A-041': 'A post-start hook whose name is on the list of disabled hooks is skipped without a word, and has no check.',
  'A-042':
    'Each post-start hook is the check `poststarthook/<name>`, of `/healthz` and `/readyz` at once and of `/livez` behind the livez grace period.',
  'A-043':
    'Post-start hooks begin together once the server listens; the check of each fails until its hook has succeeded.',
  'A-044': 'A post-start hook that fails ends the process at once.',
  'A-045':
    'What a post-start hook started goes on through the delay; its context ends when the HTTP server is told to stop.',
  'A-046': 'A post-start hook that still runs when the server stops, and then fails, turns a clean end into a crash.',
  'A-047': 'A post-start hook is given a client of its own server, with all rights.',
  'A-048':
    'The server has post-start hooks of its own, for informers, request limits and the counts of stored objects.',
  'A-049': 'The hook that waits for the storages gives up after a minute with a warning, and has then succeeded.',
  'A-055':
    'A pre-shutdown hook needs a unique, non-empty name and has to be registered before the hooks begin; one without a function is ignored.',
  'A-056': 'Pre-shutdown hooks run one after another in random order, without a limit.',
  'A-057': 'While a pre-shutdown hook runs, it can call its own server, even after the delay has passed.',
  'A-058': 'All pre-shutdown hooks run though some fail, and their failures become one error.',
  'A-059': 'When a pre-shutdown hook has failed, the process ends without waiting for the requests in flight.',
  'A-060': 'A pre-shutdown hook that panics ends the process at once.',
  'A-061': 'A pre-shutdown hook that never returns holds up the shutdown for ever.',
  'A-070':
    '`/healthz`, `/livez` and `/readyz` are exact paths, and each check has a path of its own below them; its name may contain slashes. The index at `/` lists them all.',
  'A-071': 'The method of a probe does not matter.',
  'A-072':
    '`ping`, which always passes, and `log` are checks of each endpoint; `shutdown` is a check of `/readyz` alone and stands last.',
  'A-073': 'An endpoint without checks has `ping`.',
  'A-074': 'Checks are reported in the order of registration, and none can be added once the endpoints are served.',
  'A-075':
    'On `/livez` the check of a post-start hook passes without being run until more than the livez grace period has passed since its registration; the other endpoints have no grace.',
  'A-076': 'A server that wraps another one takes over its checks, without a livez grace.',
  'A-077':
    'From its first use on, the check `log` flushes the log every minute; it fails once the last flush that was completed is two minutes old.',
  'A-078': '`/readyz` fails while an informer of the server has not synced.',
  'A-079': 'The storage is a check of all three endpoints, and its readiness another one of `/readyz`.',
  'A-080': 'The check of the storage really asks it only every so often, and repeats its last result in between.',
  'A-085':
    'A health endpoint that passes answers 200 with the two bytes `ok`, as plain text in UTF-8 that must not be sniffed, with `Cache-Control: no-cache, private`.',
  'A-086': 'With the query key `verbose`, whatever its value, a passing endpoint lists its checks, one line each.',
  'A-087': 'A health endpoint that fails answers 500, never 503, and always lists its checks.',
  'A-088':
    'A check is reported as `[+]name ok`, `[-]name failed: reason withheld`, `[+]name excluded: ok` or `[+]name excluded with group: ok`, and names that `exclude` could not find get one line of warning.',
  'A-089':
    '`exclude` names a check, or else a group of checks, to be left out and can be repeated; a check left out does not run, and an unknown name changes nothing but the report.',
  'A-090': 'With `?exclude=shutdown` a probe of `/readyz` stays green during the shutdown.',
  'A-091': 'A check with a livez grace cannot be excluded by its group.',
  'A-092': 'The last line of a report names the endpoint as its path does.',
  'A-095': 'The path of a single check answers 200 `ok`, or 500 with the real reason of the failure.',
  'A-096': 'The path of a single check takes no notice of `verbose` and `exclude`, and is counted nowhere.',
  'A-097': '`/readyz/shutdown` says during the shutdown that the process is shutting down.',
  'A-100': 'Checks run one after another and without a limit, and each probe runs them all by itself.',
  'A-101': 'Probes pass authentication, authorization, audit and limits like every other request.',
  'A-102': 'The three endpoints are open to everybody; the paths of single checks need a permission.',
  'A-103':
    'With plain limits on the requests in flight, health probes count like any other request and can be answered 429.',
  'A-104': 'Each probe that fails is a line in the log, with the reasons.',
  'A-105': 'Names that `exclude` could not find are logged when the log is verbose enough.',
  'A-106':
    'During the shutdown `/readyz` fails by its check `shutdown`, while `/livez` and `/healthz` go on passing as long as the listener is open.',
  'A-111':
    'The 429 and the 503 of a shutdown come ahead of everything else: no request metric and no audit event has them.',
  'A-112': 'A request is long-running by its verb, by the subresource that it asks for, or by a path for profiling.',
  'A-120':
    'During the delay everything is served on old and new connections, and no response carries a sign of the coming end.',
  'A-122':
    'With `shutdownSendRetryAfter`, from `NotAcceptingNewRequest` on, new and kept connections alike are answered 429.',
  'A-126': 'Health and metrics paths, and the server’s calls to itself, are exempt from the refusals of a shutdown.',
  'A-130':
    'A watch with a grace period ends at once when `NotAcceptingNewRequest` fires; events that wait to be sent may be lost.',
  'A-131': 'The client of a watch that is ended sees a regular end: the last chunk over HTTP/1.1.',
  'A-133':
    'A watch over a WebSocket does not learn of the shutdown; it holds the drain to the end of its grace period and is cut.',
  'A-135':
    'Without a grace period nobody tells the watches of the shutdown; they are cut when the process exits, without a last chunk.',
  'A-140':
    'Long-running requests are ended at 200 a second, or as many as end all of them within the grace period if that is more; one at a time, and the grace period is a hard deadline.',
  'A-141':
    'Before the drain the limiter is not asked; in the drain each request that ends uses one of its moments, in no promised order.',
  'A-143': 'When the grace period is over the wait ends, whatever is still open.',
  'A-145': 'Watches that are left when their grace period ends are not ended but die with the process.',
  'A-150':
    'The server has limits of its own for headers and idle connections: 32 s for the headers, 90 s for an idle connection.',
  'A-151': 'The listener closes first, then idle connections; active connections are never closed by force.',
  'A-152': 'A connection that has not sent a request counts as idle only after 5 s and holds up the stop so long.',
  'A-156': 'Connections that have left HTTP are neither waited for nor closed.',
  'A-161':
    'A request over HTTP/2 is, with a small chance, answered with a GOAWAY for its connection, so that clients spread; what is in flight there goes on, and HTTP/1.1 is left alone.',
  'A-170':
    'A request that is not long-running has until the request timeout, or less if its query asks for less by `timeout`; a value that cannot be read is answered 400.',
  'A-171':
    'When the time is up before the handler has sent anything, the client gets 504, and what the handler sends later fails.',
  'A-172': 'When the time is up in the middle of an answer, the answer is broken off.',
  'A-173': 'The handler of a request that has timed out goes on running, and the shutdown does not wait for it.',
  'A-174':
    'Requests beyond the limit in flight, one limit for reading and one for changing, are answered 429 with `Retry-After: 1`, on a connection that stays; long-running requests do not count.',
  'A-176': 'The refusals of overload and of the shutdown have different bodies and different values of `Retry-After`.',
  'A-180':
    'A health check has two metrics: the gauge `kubernetes_healthcheck{name,type}`, 1 when it passed and 0 when it failed, and the counter `kubernetes_healthchecks_total{name,type,status}` with the status `success` or `error`. Their help texts call them stable.',
  'A-181':
    'Results of checks are counted when a whole endpoint is probed, for each check that was run; neither on the path of a single check nor for one that was excluded.',
  'A-182':
    'They are served at `/metrics/slis`, from a registry of their own with the start time of the process; DELETE resets that.',
  'A-183': 'Probes of whole endpoints are counted among the requests.',
  'A-184':
    'Requests that overload has rejected and requests that timed out are counted; those that a shutdown refused are not among them.',
  'A-186': 'The long-running requests that are open are a gauge.',
  'A-187': 'The durations of requests are a histogram with buckets from 5 ms to 60 s.',
  'A-188':
    'Nothing is measured of the lifecycle: no phase, no length of a shutdown or of a hook, no request that a shutdown has drained, cut or refused.',
  'A-217': 'The chance of a GOAWAY is from 0 to 0.02.',
  'A-218': 'The greatest number of requests in flight cannot be negative, and 0 switches the limit off.',
  'A-248':
    'A post-start hook that blocks until its context ends keeps `/readyz` red for ever, and nothing says that it had to return.',
  'K-012': 'A probe over HTTP passes with a status from 200 to 399.',
  'K-015': 'An answer whose body does not arrive whole is an error to the kubelet, whatever its status, and no pass.',
  'K-016': 'Of an answer the kubelet reads 10 KiB at most; what is longer is cut, without effect on the result.',
  'K-021':
    'Each probe of the kubelet comes on a connection of its own and says `Connection: close`; nothing is compressed.',
  'K-030':
    'A TCP probe is a connection on which nothing comes: no error, nothing for the log, and no traffic of a client.',
  'K-032':
    'A probe over gRPC calls `Check` of the standard health service in clear text, for the service `""` unless told otherwise.',
  'K-033': 'Only `SERVING` passes; every other answer, a service that nobody knows included, is a failure.',
  'K-035': 'An exec probe passes with exit status 0, and the output of one that fails is its reason.',
  'K-036': 'An exec probe that takes longer than its timeout has failed, and is killed.',
  'K-100': 'PID 1 ignores a process signal that it has no handler for, and is killed at the end of its grace period.',
  'K-115':
    'Of a termination message the kubelet keeps the last 4096 bytes, and beside those of more than three other containers the first few.',
  'K-166': 'The grace period of a pod that is being ended can become shorter but never longer.',
  'K-193': 'Probes come from outside the pod: a server listens on every address and not only on its loopback.',
  'K-194':
    'Handlers for the process signals are in place before the start waits for anything, also as PID 1, and a stop signal of the image’s own is obeyed.',
  'K-195':
    'A process signal before the process listens ends it within a second, with exit code 0 and without a port having been opened.',
  'K-196': 'The port is open early, and readiness fails there until what serving needs is up.',
  'K-197':
    'Liveness asks nothing that another process answers and passes through nothing of the program; it is answered within 100 ms under full load.',
  'K-198': 'Liveness passes through the whole drain: only what a restart mends may fail it.',
  'K-199':
    'Readiness is an answer of its own: 503 when it fails, less than 10 KiB with `Content-Length` in one write, and never a redirect.',
  'K-200':
    'Probes are answered whatever their `Host` and query, by GET and HEAD, with `Connection: close`, over TLS without the name of a server, and over HTTP/2 where it is offered.',
  'K-201':
    'Probes stand in no log at info level, in no metric of requests and under no limit, and a process under full load still answers them.',
  'K-202': 'A connection that is closed without a byte, and a TLS handshake that is broken off, are silent.',
  'K-203':
    'On the stop signal: readiness fails; the listener stays open for the delay while responses say `Connection: close`; then it closes, silent connections end, what is in flight is waited for, upgraded sockets are told goodbye (1001), close hooks run in reverse order, the log is flushed, and the exit code is 0.',
  'K-204': 'During the delay every new connection and request is served as ever.',
  'K-205':
    'Whether readiness fails during the drain (`fail`) or goes on passing (`hold`) can be chosen, and the answer says which phase it is.',
  'K-206':
    'No wait is without an end: what is silent, half-open or slow is cut at the deadline, and the process ends within the grace period less the preStop hook less one second; the grace period is taken for 30 s when nobody says.',
  'K-207':
    'One second before the end of the budget what is still open is logged and destroyed, and the exit code says so: SIGKILL never comes because of our own waiting.',
  'K-208':
    'A request from before the listener closed ends with its real status; long polls and event streams end soon, and say when to come back.',
  'K-209':
    'An endpoint for a preStop hook over HTTP, if there is one, may be called twice and returns soon; the connection that the kubelet keeps of it does not delay the exit.',
  'K-210': 'A second process signal ends the process at once with 128 and the number of the signal.',
  'K-211':
    'After an uncaught error a process says why, drains for at most two seconds and exits with a code that is not 0.',
  'K-212':
    'On a bad end a process writes one message of at most 3072 bytes, its cause first, to the termination path: synchronously, in place, and never on a good end; a file that is not there is no error.',
  'K-213':
    'The keep-alive timeout is longer than 60 s behind proxies, `headersTimeout` fits it, and connections are bounded in requests and in age.',
  'K-214':
    'When only two seconds are left in all, state is flushed first and nothing is lost; a thousand idle connections do not make the drain longer.',
  'K-215':
    'The model is the apiserver: `/readyz` fails at once, all is served for the delay, then nothing new, what is in flight ends, listeners close; a second process signal exits with 1.',
  'P-001':
    'From its drawn moment on, a connection’s next response whose headers are not sent yet says `Connection: close`, also to a request from before the process signal.',
  'P-002':
    'A kept connection whose last response did not say close is left open for the linger; one whose response said close is ended as soon as that response is flushed.',
  'P-003': 'Thirty closed-loop clients on kept connections see no ECONNRESET over twenty shutdowns.',
  'P-004':
    'A silent connection stays open for the linger, and a request that arrives in that time is served and told to close, in both modes.',
  'P-005': 'A request written to a silent connection in the same millisecond as the process signal is answered whole.',
  'P-006': 'A silent connection is ended by FIN and destroyed only after a further, bounded wait.',
  'P-007': 'The ends of silent connections are spread out, so that their clients do not come back all at once.',
  'P-008': 'A client that never pauses on one connection cannot keep the server alive: one more request, then close.',
  'P-009':
    'Of two pipelined requests the first is answered, and the second is either answered or was told by the first that the connection closes.',
  'P-010':
    'With requests queued on a connection the last response says close; what arrives after that, or after our FIN, reaches no handler.',
  'P-011': 'A connection that never sent a byte ends with the linger and never holds up the exit.',
  'P-012': 'Half a request line or head at the process signal is waited for and served when the rest comes in time.',
  'P-013': 'Half a head that nothing follows is ended by FIN, ahead of the end of the drain’s time.',
  'P-014': 'A client that has sent its request and then FIN still gets its response.',
  'P-015': 'Clients that speak HTTP/1.0 or ask for `Connection: close` notice nothing of the drain.',
  'P-016':
    'During the drain a `Connection` header of the handler’s own is overridden, and no `Keep-Alive` header goes with it.',
  'P-017': 'The program’s own limits (`maxRequestsPerSocket`, `keepAliveTimeout`, `requestTimeout`) hold in the drain.',
  'P-018': 'The listener closes without resetting the connections that wait in its backlog.',
  'P-019':
    'With `shutdownSendRetryAfter` a connection accepted after `NotAcceptingNewRequest` gets 429, `Retry-After` and close, and FIN after the client could read it.',
  'P-020': 'Several listeners (IPv4 and IPv6, a unix socket, two ports) drain as one.',
  'P-021':
    'A request is in flight until its response closes, finished or not, so an aborted one never holds up the drain.',
  'P-022': 'An upload in progress at the process signal is received whole and answered.',
  'P-023': 'A stalled upload is cut at the deadline and logged with method, route and age.',
  'P-024':
    'A client that waits for `100 Continue` at the process signal gets it and a full response; one on a refused connection gets the refusal without it.',
  'P-025': 'A response in mid-stream is left alone until the deadline; cut there, it is counted as forced.',
  'P-026':
    'A body that goes on behind the answer to its request is read on, within bounds, so that no reset takes the answer away.',
  'P-027': 'A handler that never ends is named by its route before its connection is closed by force.',
  'P-028':
    'The `AbortSignal` of a long-running request is aborted in the drain, that of any other at the deadline only.',
  'P-029': 'A response that a framework has handed over to the handler is counted like any other.',
  'P-030': 'A request that fails before any handler (404, bad URL, unreadable head) is never left over in the count.',
  'P-031': 'Requests injected without a socket do not disturb the count.',
  'P-032': 'Requests by HEAD and OPTIONS are counted like any other, and a CONNECT tunnel is long-running.',
  'P-033': 'A route that is marked long-running is not waited for with the others and is counted apart.',
  'P-034': 'An event stream that is drained gets its last chunk, and before it a `retry:` for its client.',
  'P-035': 'A long poll is answered in the drain, not cut.',
  'P-036': 'Long-running requests are ended so many per second, at least 200, and not all at once.',
  'P-037': 'A long-running request that ends by itself is not ended again, and its place in the line goes to the next.',
  'P-038': 'A long-running request that begins during the shutdown is refused, or has to end by the same deadline.',
  'P-039':
    'A WebSocket is closed with 1001 and a reason by the object that `ws` leaves on its socket, and terminated after a bounded wait.',
  'P-040': 'A socket that has been upgraded to something unknown gets a FIN, and is destroyed if it does not answer.',
  'P-041':
    'A client that asks for another protocol during the drain is refused while the connection still speaks HTTP: one that came late like any other, one that was kept by 503 and close.',
  'P-042': 'Every HTTP/2 session is told to leave by GOAWAY and ends after its streams, on every version of Node.',
  'P-043':
    'Over clear text HTTP/2 leaves in two steps, so that a stream that was opened in between is served; over TLS by one GOAWAY at a good moment.',
  'P-044':
    'A session without streams ends at its drawn moment, and a stream that never ends is cut at the deadline with its session.',
  'P-045': 'A server that speaks HTTP/1.1 and HTTP/2 drains each connection by its own protocol.',
  'P-046':
    'gRPC health says `NOT_SERVING` from `ShutdownInitiated` on, and who watches hears it before the stream ends.',
  'P-047': 'Requests in flight over TLS survive the shutdown like those in the clear.',
  'P-048': 'A client that never begins or never finishes its TLS handshake does not hold up the exit.',
  'P-049': 'A TLS handshake that ends during the drain makes a new connection, treated as one.',
  'P-050': 'A server on a unix socket drains like one on a port.',
  'P-051': 'A socket error during the drain never becomes an uncaught exception.',
  'P-052': 'A response that finishes when its socket is gone already throws nothing.',
  'P-053': 'A server that has connections already is taken over with them, or refused loudly.',
  'P-054': 'A server that never listened, or is about to, shuts down cleanly.',
  'P-055': 'When the program or its framework closes the server during our drain, the drain goes on undisturbed.',
  'P-056': 'Whatever begins the shutdown (either process signal, code, an uncaught error), it runs once.',
  'P-057':
    'A second process signal ends the process with code 1 after one line of log. Any process signal within 100 ms of the first counts as the first: some starters send it twice, or send another one.',
  'P-058':
    'After a clean drain the exit code is 0 even when timers or handles are left; each abnormal end has a code of its own.',
  'P-059': 'Supervisors that want to see death by signal can be given it instead of an exit code.',
  'P-060': 'The last line of the log arrives even when the reader of the pipe is slow.',
  'P-061': 'With a log that is written by a worker thread, all lines arrive before the exit.',
  'P-063': 'An uncaught error is logged, turns readiness red, gets a bounded drain and a non-zero exit code.',
  'P-064': 'An unhandled rejection does what Node does with it.',
  'P-065': 'A process under `npm start` or a shell, which keep process signals to themselves, says so once.',
  'P-066': 'As PID 1 the process needs no init: its handlers are in place before it listens.',
  'P-067': 'A process signal during the start, before listening or in a post-start hook, leads to a clean exit.',
  'P-068': 'An IPC message `shutdown` of PM2 begins the shutdown like a process signal.',
  'P-069': 'SIGHUP and SIGUSR2 are left alone unless asked for, and signals of a fault are never taken.',
  'P-070': 'Signal listeners of other libraries keep working, and ours can be removed.',
  'P-071': 'A worker of `node:cluster` that its primary disconnects drains before Node closes its servers.',
  'P-073':
    'No timer of ours keeps the process alive or is left behind: a thousand starts and stops in one process leave no warning, listener, timer or handle.',
  'P-074': 'Time is monotonic: a jump of the clock does not change the drain.',
  'P-075':
    'Delay, drain and hooks have to fit into `terminationGracePeriodSeconds`; when they do not, the start says so.',
  'P-076': 'A preStop sleep and a delay of the program add up, and are reported.',
  'P-077': '`/readyz` is red within 10 ms of the process signal, and `/livez` stays green to the end.',
  'P-078': 'Probes are answered in every phase as long as there is a listener, and are not counted as in flight.',
  'P-079': 'What answers probes closes last, behind the hooks.',
  'P-080': 'Query, trailing slash, HEAD and letter case do not turn a probe into 404.',
  'P-081': 'A check that hangs fails by its own limit while the others still report, all before the kubelet gives up.',
  'P-082': 'A hundred probes at once run each check once.',
  'P-083':
    'A check fails when it throws, rejects, times out or returns `false`; `undefined` passes; the reason is in the log only.',
  'P-084': 'The result of one endpoint never shows in another.',
  'P-085':
    'Unknown names of `exclude` are a warning, groups can be excluded, and the path of a check runs that check alone.',
  'P-086': 'Health responses forbid storing and sniffing, and are never 304.',
  'P-087': 'What the start still has to do does not fail liveness before the grace is over.',
  'P-088': 'Being ready does not depend on being probed.',
  'P-089':
    'A liveness check that looks like a dependency is warned about: a restart mends nothing that is wrong elsewhere.',
  'P-090':
    'A blocked event loop is seen from another thread, and told of in the log, in metrics and to probes; the loop itself cannot see it.',
  'P-091': 'A program can turn itself unready and ready again before the shutdown, and not after it has begun.',
  'P-092': 'Nothing but the prober’s own thresholds damps readiness, and after `ShutdownInitiated` it stays red.',
  'P-093': 'A listener for probes is bound to IPv6 and IPv4, and its port is told.',
  'P-094':
    'Pre-shutdown hooks begin at `ShutdownInitiated`, beside the delay, and `NotAcceptingNewRequest` waits for both.',
  'P-095': 'A hook that fails or reaches its limit is logged and counted, and the sequence goes on.',
  'P-096': 'What closes databases and their like runs only after the last request, or after the deadline.',
  'P-097':
    'Destroy hooks run one by one in reverse order of registration, the other kinds beside each other; during the shutdown none can be added.',
  'P-098': 'A hook is given the reason of the shutdown, its limit and an `AbortSignal`.',
  'P-101': 'Each phase writes exactly one line of log, with its duration and counts, and phases never go back.',
  'P-102':
    'Fastify’s own close comes after our drain only; then it ends within a tenth of a second, and its onClose hooks run.',
  'P-103': 'The drain is the same on every Fastify from 5.8 on, also on those whose close destroys requests in flight.',
  'P-107':
    'Outside a cluster the delay is 0 unless set, and the log says so. Under a watcher or in a terminal a restart waits for no idle connection either.',
  'P-111':
    'A program’s own listeners can be held only by an override of `process.emit`. Node calls it only for signals that get their first listener after it, so older listeners are added again.',
  'P-112':
    'An `emit` of a server’s own composes with tracers that patch the prototype; Node announces each server that begins to listen, also one that a framework keeps to itself.',
  'P-113':
    'A listener for `upgrade`, `checkContinue` or `request` changes what Node itself does, so none is added to a server.',
  'P-114':
    'The close of `net.Server` stops listening and goes on serving kept connections, where the close of `http.Server` ends the idle ones.',
  'P-115':
    'Fastify’s own close answers every route and probe with 503 and may wait for idle connections, so `close` is replaced on the root instance; whatever else closes the application goes through it.',
  'P-116':
    'Frameworks that send the process signal to their own process, or close a server that is closed, do not change the exit code.',
  'P-117':
    'What `NODE_OPTIONS` loads is loaded by every thread and every child process, also into npm, scripts and probes: until an HTTP server listens they do exactly what they do without.',
  'P-118':
    'While the main thread is blocked another thread can write with `fs.writeSync`, not with `console.log`, and cannot end the process when that is PID 1.',
  'P-119':
    'What a request costs more is measured in nanoseconds, beside some 25 µs for the whole of it; a thread costs some 50 ms and 18 MiB once.',
  'P-120': 'A handler that writes `Connection: keep-alive` itself is overridden per response, and only in the drain.',
  'P-121': 'Variables that Kubernetes injects for a Service named `lameduck` are neither read nor reported.',
  'P-122': 'A process signal without a deletion takes a pod out of its services only by the readiness probe.',
  'P-123':
    'FIN alone does not keep a request from its handler: what arrives after our FIN has to be swallowed before it.',
  ...chartRules,
  ...leaseRules,
  ...kubeletRules,
};
