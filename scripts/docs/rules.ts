// The rules, by number, in one sentence or two each. docs/conformance.md is generated from this list, from the tests
// and comments that cite a number, and from differences.ts.
import { chartRules } from './chart-rules.ts';
import { injectorRules } from './injector-rules.ts';
import { leaseRules } from './lease-rules.ts';
import { kubeletRules } from './kubelet-rules.ts';

/** The subjects of the rules, by the letter with which their numbers begin. */
export const families = {
  A: 'start and shutdown of the Kubernetes apiserver',
  H: 'a Helm chart and a container image that lose no request',
  HC: 'acceptance criteria of the chart and the image',
  K: "the kubelet's probes and pod termination",
  L: 'leader election on a Lease, together with programs in Go',
  LT: 'scenarios of leader election',
  M: 'an admission policy that injects the package into pods',
  P: 'hard cases of shutting down an HTTP server on Node',
} as const;

/** All rules, by their number. */
export const rules: Readonly<Record<string, string>> = {
  'A-001': 'A lifecycle signal has a name and fires once. It then stays fired, and firing it again changes nothing.',
  'A-002':
    'There are eight signals: `MuxAndDiscoveryComplete`, `HasBeenReady`, `ShutdownInitiated`, `AfterShutdownDelayDuration`, `PreShutdownHooksStopped`, `NotAcceptingNewRequest`, `InFlightRequestsDrained` and `HTTPServerStoppedListening`.',
  'A-003':
    '`ShutdownInitiated` fires when the process receives a request to stop, such as SIGTERM. From then on, `/readyz` answers 500.',
  'A-004':
    '`AfterShutdownDelayDuration` fires exactly one shutdown delay after `ShutdownInitiated`. With a delay of 0, it fires at once. Nothing shortens the delay.',
  'A-005':
    'Pre-shutdown hooks start at `ShutdownInitiated`. `PreShutdownHooksStopped` fires when the last of them has returned, with or without an error.',
  'A-006':
    '`NotAcceptingNewRequest` fires when both the delay and the pre-shutdown hooks have ended. Until then, every request is served.',
  'A-007':
    '`InFlightRequestsDrained` fires when the ordinary requests have ended. If watches have a grace period, it also waits for the watches.',
  'A-008':
    'By default, the listener stops at `NotAcceptingNewRequest`, in parallel with the drain of the requests in flight.',
  'A-009': 'With `shutdownSendRetryAfter`, the HTTP server stops at `InFlightRequestsDrained`, within two seconds.',
  'A-010':
    'With requests in flight, the last signals fire in this order by default: `NotAcceptingNewRequest`, `HTTPServerStoppedListening`, `InFlightRequestsDrained`.',
  'A-011':
    'With `shutdownSendRetryAfter`, the last signals always fire in this order: `NotAcceptingNewRequest`, `InFlightRequestsDrained`, `HTTPServerStoppedListening`.',
  'A-012': 'After `HTTPServerStoppedListening`, no connection is accepted. Open connections may remain.',
  'A-013': '`HasBeenReady` fires at the first probe of `/readyz` that passes.',
  'A-014':
    '`MuxAndDiscoveryComplete` fires when all handlers are installed. It never fires after a shutdown has begun.',
  'A-016':
    'At the start, the server listens first, then the post-start hooks start, and last the process begins to wait for the shutdown.',
  'A-018':
    "The server's run function returns only after the hooks, the drain, the audit flush and the stop of the listener. Destroy functions run last, even if an earlier step has failed.",
  'A-020':
    'The shutdown as a whole has no deadline. Only the delay, the drain and the stop of the listener have limits; hooks and the audit flush do not.',
  'A-030': 'SIGINT and SIGTERM start the shutdown.',
  'A-031':
    'The first process signal starts the shutdown. A second one, SIGINT or SIGTERM, ends the process with code 1.',
  'A-032': 'A process can install its handler for process signals only once.',
  'A-033':
    'After a clean shutdown, the process exits with code 0. After any other shutdown, it exits with another code.',
  'A-040':
    'A post-start hook needs a function and a unique, non-empty name. It must be registered before the hooks start.',
  'A-041': 'A post-start hook on the list of disabled hooks is skipped without a log line, and has no check.',
  'A-042':
    'Each post-start hook is the check `poststarthook/<name>` of `/healthz` and `/readyz`. After the livez grace period, it is also a check of `/livez`.',
  'A-043':
    'Post-start hooks start together when the server listens. The check of a hook fails until the hook has ended without an error.',
  'A-044': 'A post-start hook that fails ends the process at once.',
  'A-045':
    'Work that a post-start hook has started continues through the shutdown delay. The context of the hook ends when the HTTP server stops.',
  'A-046': 'If a post-start hook still runs when the server stops, and then fails, a clean shutdown becomes a crash.',
  'A-047': 'Each post-start hook receives a client for its own server, and this client has every permission.',
  'A-048':
    'The server has built-in post-start hooks: for its informers, its request limits and its counts of stored objects.',
  'A-049': 'The built-in hook that waits for the storage logs a warning after a minute and then succeeds.',
  'A-055':
    'A pre-shutdown hook needs a unique, non-empty name. It must be registered before the hooks start. A hook without a function is ignored.',
  'A-056': 'Pre-shutdown hooks run one after another, in random order and without a limit.',
  'A-057': 'While a pre-shutdown hook runs, it can send requests to its own server, even after the delay has passed.',
  'A-058': 'All pre-shutdown hooks run, even if some fail. Their errors are combined into one.',
  'A-059': 'If a pre-shutdown hook has failed, the process exits without waiting for the requests in flight.',
  'A-060': 'A pre-shutdown hook that panics ends the process at once.',
  'A-061': 'A pre-shutdown hook that never returns blocks the shutdown forever.',
  'A-070':
    '`/healthz`, `/livez` and `/readyz` are exact paths. Each check has its own path below them, and its name may contain slashes. The index at `/` lists all these paths.',
  'A-071': 'A probe may use any HTTP method.',
  'A-072':
    'Each endpoint has the checks `ping`, which always passes, and `log`. Only `/readyz` has the check `shutdown`, which is the last one.',
  'A-073': 'An endpoint without other checks has the check `ping`.',
  'A-074': 'Checks are reported in the order of registration. No check can be added after the endpoints are served.',
  'A-075':
    'On `/livez`, the check of a post-start hook passes without a run during the livez grace period, which begins with the registration of the hook. The other endpoints have no grace period.',
  'A-076':
    'A server that wraps another server takes over the health checks of that server, without a livez grace period.',
  'A-077':
    'After the check `log` has run once, it flushes the log every minute. It fails if the last completed flush is two minutes old.',
  'A-078': '`/readyz` fails until every informer of the server has synced.',
  'A-079':
    'The storage is a check of `/healthz`, `/livez` and `/readyz`. Its readiness is a second check of `/readyz`.',
  'A-080':
    'The check of the storage contacts the storage only once per interval. Until the next interval, it repeats the last result.',
  'A-085':
    'A passing health endpoint answers 200 with the two bytes `ok`. The content type is plain text in UTF-8 that must not be sniffed, with `Cache-Control: no-cache, private`.',
  'A-086': 'With `verbose` in the query, whatever its value, a passing health endpoint lists its checks, one per line.',
  'A-087': 'A failing health endpoint answers 500, never 503, and always lists its checks.',
  'A-088':
    'The report of a health endpoint has one line per check: `[+]name ok`, `[-]name failed: reason withheld`, `[+]name excluded: ok` or `[+]name excluded with group: ok`. One warning line lists the names in `exclude` that match no check.',
  'A-089':
    'The query `exclude` of a probe names a check, or else a group of checks, and can be repeated. An excluded check does not run. An unknown name only changes the report.',
  'A-090': 'With `?exclude=shutdown`, `/readyz` passes during the shutdown.',
  'A-091': 'A check with a livez grace cannot be excluded by its group.',
  'A-092': 'The last line of a health report contains the name of the endpoint.',
  'A-095': 'The path of a single health check answers 200 `ok`, or 500 with the reason of the failure.',
  'A-096': 'The path of a single health check ignores `verbose` and `exclude`, and no metric counts it.',
  'A-097': 'During the shutdown, `/readyz/shutdown` answers that the process is shutting down.',
  'A-100': 'Health checks run one after another, without a time limit, and each probe runs all of them again.',
  'A-101': 'Probes pass through authentication, authorization, audit and limits, as every other request does.',
  'A-102': '`/healthz`, `/livez` and `/readyz` are open to everyone. The path of a single check requires a permission.',
  'A-103': 'If only a plain limit on requests in flight is set, probes count as requests and can get a 429.',
  'A-104': 'For each failing probe, the apiserver writes a log line with the reasons.',
  'A-105': 'At a verbose log level, names in `exclude` that match no check are logged.',
  'A-106':
    'During the shutdown, `/readyz` fails by its check `shutdown`. `/livez` and `/healthz` pass as long as the listener is open.',
  'A-111':
    'The 429 and the 503 of a shutdown are sent before all other handling, so no request metric and no audit event contains them.',
  'A-112': 'A request is long-running if its verb, its subresource or its path, for profiling, is on a list.',
  'A-120':
    'During the delay, every request is served on existing and new connections. No response shows that a shutdown has begun.',
  'A-122': 'With `shutdownSendRetryAfter`, new and kept-alive connections get a 429 from `NotAcceptingNewRequest` on.',
  'A-126': "Health paths, metrics paths and the server's calls to itself do not get the 429 of a shutdown.",
  'A-130':
    'A watch with a grace period ends at once at `NotAcceptingNewRequest`. Events that wait to be sent may be lost.',
  'A-131': 'The client of a watch that the shutdown ends sees a regular end: over HTTP/1.1, the last chunk.',
  'A-133':
    'A watch over a WebSocket is not notified of the shutdown. The drain waits for it until the grace period ends, and then cuts the connection.',
  'A-135':
    'With a grace period of 0, watches are not notified of the shutdown. They are cut when the process exits, without a last chunk.',
  'A-140':
    'Long-running requests end at 200 per second, or faster if that is necessary to end all of them within the grace period. They end one at a time, and the grace period is a hard deadline.',
  'A-141':
    'Before the drain, the rate limiter is not used. During the drain, each request that ends takes one permit of the limiter. The order is not defined.',
  'A-143':
    'When the grace period of the watches is over, the drain stops waiting for them, even if some are still open.',
  'A-145': 'Watches that are open at the end of their grace period are not ended. They are cut when the process exits.',
  'A-150': 'The server sets its own limits: 32 s for the headers of a request, 90 s for an idle connection.',
  'A-151':
    'At the stop of the server, the listener closes first, then idle connections close. Active connections are never closed by force.',
  'A-152':
    'A connection that has not sent a request counts as idle only after 5 s. The stop of the server waits until then.',
  'A-156': 'The shutdown neither waits for upgraded connections nor closes them.',
  'A-161':
    'With a small probability, an HTTP/2 request is answered with a GOAWAY, so that clients spread over the servers. Requests in flight on that connection continue. HTTP/1.1 is not affected.',
  'A-170':
    'The request timeout limits each request that is not long-running. Its query may set a shorter `timeout`. An invalid value is answered with 400.',
  'A-171':
    'If a request times out before its handler has sent anything, the client gets a 504. Later writes of the handler fail.',
  'A-172': 'If a request times out in the middle of its response, the response is cut.',
  'A-173': 'The handler of a request that has timed out continues to run. The shutdown does not wait for it.',
  'A-174':
    'Requests above the limit of requests in flight are answered with 429 and `Retry-After: 1`, and the connection stays open. There is one limit for reads and one for writes. Long-running requests do not count.',
  'A-176':
    'The answers of an overloaded server and of a server that shuts down differ in their bodies and in their `Retry-After`.',
  'A-180':
    'A health check has two metrics, which their help texts call stable. The gauge `kubernetes_healthcheck{name,type}` is 1 after a pass and 0 after a failure. The counter `kubernetes_healthchecks_total{name,type,status}` has the status `success` or `error`.',
  'A-181':
    'The metrics of health checks count the results of each check that ran because a whole endpoint was probed. They do not count the path of a single check or an excluded check.',
  'A-182':
    'The metrics of health checks are served at `/metrics/slis`, from a separate registry that also has the start time of the process. DELETE resets the registry.',
  'A-183': 'Probes of whole endpoints are counted as requests.',
  'A-184':
    'A metric counts the requests that were rejected because of overload, and the requests that timed out. No metric counts the requests that a shutdown has refused.',
  'A-186': 'A gauge has the number of open long-running requests.',
  'A-187': 'A histogram has the durations of requests, with buckets from 5 ms to 60 s.',
  'A-188':
    'No metric describes the lifecycle: no phase, and no duration of a shutdown or a hook. No metric counts the requests that a shutdown has drained, cut or refused.',
  'A-205':
    'The audit backend starts before the server listens and takes events until `InFlightRequestsDrained`. It then writes the queued events, without a deadline.',
  'A-206':
    'Requests and watches that are in flight at the shutdown, and end before `InFlightRequestsDrained`, are in the audit log.',
  'A-217': 'The probability of a GOAWAY must be from 0 to 0.02.',
  'A-218': 'The limit of requests in flight must not be negative. 0 disables it.',
  'A-248':
    'A post-start hook that blocks until its context ends makes `/readyz` fail forever. No log line says that the hook should have returned.',
  'K-012': 'An HTTP probe passes with a status from 200 to 399.',
  'K-015': 'If the body of a response does not arrive completely, the probe has an error, whatever the status.',
  'K-016': 'The kubelet reads at most 10 KiB of a response. A longer body is truncated, without effect on the result.',
  'K-021': 'Each probe uses a new connection and sends `Connection: close`. It accepts no compression.',
  'K-030':
    'A TCP probe opens a connection and sends nothing. The server must not treat it as an error, log it, or count it as traffic.',
  'K-032': 'A gRPC probe calls `Check` of the standard health service in clear text. The default service is `""`.',
  'K-033':
    'A gRPC probe passes only with the status `SERVING`. Every other answer fails the probe, including an unknown service.',
  'K-035': 'An exec probe passes with exit status 0. If it fails, its output is the reason.',
  'K-036': 'An exec probe that exceeds its timeout fails, and its command is killed.',
  'K-100':
    'For PID 1, the kernel drops a process signal without a handler. Such a process is killed at the end of its grace period.',
  'K-115':
    'The kubelet keeps the last 4096 bytes of a termination message. With four or more containers in the pod, it keeps only the first 12 288 bytes divided by their number.',
  'K-166': 'The grace period of a pod that is being deleted can become shorter, but never longer.',
  'K-193': 'Probes come from outside the pod. The server must listen on every address, not only on loopback.',
  'K-194':
    'The process installs its signal handlers before its start waits for anything, also as PID 1. It handles the stop signal of its image.',
  'K-195':
    'If a process signal arrives before the process listens, the process exits within a second, with code 0 and without opening a port.',
  'K-196': 'The probe port opens early. Readiness fails on it until everything that serving needs is available.',
  'K-197':
    'The liveness probe depends on no other process and on no code of the program. It is answered within 100 ms under full load.',
  'K-198':
    'The liveness probe passes throughout the drain. It may fail only because of a fault that a restart repairs.',
  'K-199':
    'A failing readiness probe gets a 503. The response is less than 10 KiB with `Content-Length`, is sent in one write, and never redirects.',
  'K-200':
    'The process answers probes for any `Host` and query, with GET and HEAD, and with `Connection: close`. It does so over TLS without a server name, and over HTTP/2 if the server offers it.',
  'K-201':
    'Probes appear in no log at info level and in no request metric. No limit applies to them. A process under full load still answers probes.',
  'K-202': 'A connection that is closed without a byte, and an aborted TLS handshake, are not logged.',
  'K-203':
    'On the stop signal, readiness fails. The listener stays open for the delay, and responses carry `Connection: close`. Then the listener closes, idle connections end, and requests in flight finish. WebSockets are closed with 1001, close hooks run in reverse order, the log is flushed, and the exit code is 0.',
  'K-204': 'During the delay, every new connection and request is served as before.',
  'K-205':
    'A setting decides whether readiness fails during the drain (`fail`) or passes (`hold`). The answer names the phase.',
  'K-206':
    'Every wait has a limit: idle, half-open and slow connections are cut at the deadline. The process ends within the grace period, minus the preStop hook, minus one second. The default grace period is 30 s.',
  'K-207':
    'One second before the end of the budget, open requests are logged and destroyed, and the exit code shows it. SIGKILL never follows from a wait of the process itself.',
  'K-208':
    'A request that began before the listener closed gets its real response. Long polls and event streams end early and tell the client when to reconnect.',
  'K-209':
    "If the process has an endpoint for an HTTP preStop hook, this endpoint can be called twice and returns quickly. The kubelet's kept-alive connection does not delay the exit.",
  'K-210': 'A second process signal ends the process at once, with 128 plus the number of the signal.',
  'K-211':
    'After an uncaught error, the process logs the error, drains for at most two seconds and exits with a code other than 0.',
  'K-212':
    'On an abnormal exit, the process writes one message of at most 3072 bytes to the termination message path, with the cause first. It writes synchronously and in place. It writes nothing on a clean exit. If the file does not exist, this is not an error.',
  'K-213':
    'If a proxy forwards the requests, the keep-alive timeout is longer than 60 s, and `headersTimeout` is even longer. The number of requests and the age of a connection are limited.',
  'K-214':
    'If the process has only two seconds in total, it flushes its state first and loses nothing. A thousand idle connections do not make the drain longer.',
  'K-215':
    'The shutdown follows the apiserver. `/readyz` fails at once, and every request is served during the delay. Then no new request is accepted, requests in flight end, and the listeners close. A second process signal exits with 1.',
  'P-001':
    "After a connection's close time, its next response whose headers have not been sent carries `Connection: close`. This includes the response to a request from before the process signal.",
  'P-002':
    'If the last response on a kept-alive connection did not carry `Connection: close`, the connection stays open until it has been silent for one second. If the response carried it, the server ends the connection as soon as the response has been flushed.',
  'P-003':
    'Thirty clients, each sending its next request right after the last response on a kept-alive connection, see no ECONNRESET over twenty shutdowns.',
  'P-004':
    'An idle connection stays open until it has been silent for one second, with and without a delay. A request that arrives in that time is served with `Connection: close`.',
  'P-005':
    'A request sent on an idle connection in the same millisecond as the process signal gets a complete response.',
  'P-006': 'The drain ends an idle connection with a FIN, and destroys it only after a further, limited wait.',
  'P-007': 'The drain ends idle connections one after another, so that their clients do not reconnect together.',
  'P-008':
    'A client that sends requests without a pause on one connection cannot keep the process alive. The client gets one more response, with `Connection: close`.',
  'P-009':
    'The first of two pipelined requests gets a response. The second request also gets one, unless the first response carries `Connection: close`.',
  'P-010':
    "If requests are queued on a connection, the last response carries `Connection: close`. Later requests, and requests after the server's FIN, reach no handler.",
  'P-011': 'A connection that never sent a byte ends after one second of silence and never delays the exit.',
  'P-012':
    'If half of a request line or head has arrived at the process signal, the server waits for the rest. If the rest arrives in time, the request is served.',
  'P-013': "If the rest of a head never arrives, the connection ends with a FIN before the end of the drain's time.",
  'P-014': 'A client that has sent its request and then a FIN still gets its response.',
  'P-015': 'For clients that use HTTP/1.0 or send `Connection: close`, the drain changes nothing.',
  'P-016':
    'During the drain, lameduck overrides a `Connection` header of the handler and sends no `Keep-Alive` header.',
  'P-017':
    "The program's own limits (`maxRequestsPerSocket`, `keepAliveTimeout`, `requestTimeout`) also apply during the drain.",
  'P-018': 'The listener closes without resetting the connections that wait in its backlog.',
  'P-019':
    'With `shutdownSendRetryAfter`, a connection accepted after `NotAcceptingNewRequest` gets a 429 with `Retry-After` and `Connection: close`. The FIN follows after the client could read the response.',
  'P-020': 'Several listeners (IPv4 and IPv6, a unix socket, two ports) drain together.',
  'P-021':
    'A request is in flight until its response closes, complete or not. An aborted request therefore never delays the drain.',
  'P-022': 'An upload in progress at the process signal is received completely and answered.',
  'P-023': 'An upload that makes no progress is cut at the deadline, and logged with method, route and age.',
  'P-024':
    'A client that waits for `100 Continue` at the process signal gets it and a full response. On a refused connection, the client gets only the refusal.',
  'P-025':
    'The drain does not touch a response in progress before the deadline. A response that is cut at the deadline counts as cut.',
  'P-026':
    'If a client still sends the body of a request that was answered, the server continues to read within limits, because a reset would discard the response.',
  'P-027': 'If a handler never ends its response, its route is logged before its connection is destroyed.',
  'P-028':
    'The drain aborts the `AbortSignal` of a long-running request when it ends that request. It aborts the `AbortSignal` of any other request only at the deadline.',
  'P-029':
    'If a handler writes to the raw response instead of using the framework, its request is counted like any other.',
  'P-030': 'A request that fails before it reaches a handler (404, bad URL, invalid head) never stays in the count.',
  'P-031': 'Requests injected without a socket do not change the count.',
  'P-032': 'HEAD and OPTIONS requests are counted like any other. A CONNECT tunnel is long-running.',
  'P-033':
    'A route that is marked as long-running is counted separately, and the drain does not wait for it as for ordinary requests.',
  'P-034': 'An event stream that the drain ends gets a `retry:` for its client and then its last chunk.',
  'P-035': 'A long poll gets an answer during the drain and is not cut.',
  'P-036': 'Long-running requests end at a limited rate, at least 200 per second, and not all at once.',
  'P-037':
    'If a long-running request ends on its own, the drain does not end it again and continues with the next request.',
  'P-038':
    'A long-running request that begins during the shutdown is refused, or must end by the same deadline as all others.',
  'P-039':
    'A WebSocket gets a close frame with 1001 and a reason, through the object that `ws` stores on its socket. It is terminated after a limited wait.',
  'P-040': 'A socket upgraded to an unknown protocol gets a FIN. If the peer does not answer, it is destroyed.',
  'P-041':
    'During the drain, lameduck refuses an upgrade request while the connection still speaks HTTP. A connection that was accepted too late gets the usual 429, and a kept-alive connection a 503 with `Connection: close`.',
  'P-042': 'On every version of Node, every HTTP/2 session gets a GOAWAY and ends after its last stream.',
  'P-043':
    'In clear text, an HTTP/2 session gets two GOAWAYs, so that a stream opened between them is served. Over TLS, it gets one, if possible when the session has no open stream.',
  'P-044':
    'A session without streams ends at its close time. A stream that never ends is cut at the deadline together with its session.',
  'P-045': 'A server that supports HTTP/1.1 and HTTP/2 drains each connection by its own protocol.',
  'P-046':
    'gRPC health answers `NOT_SERVING` from `ShutdownInitiated` on. A watching client receives this status before its stream ends.',
  'P-047': 'Requests in flight over TLS survive the shutdown, as in clear text.',
  'P-048': 'A client that never starts or never finishes its TLS handshake does not delay the exit.',
  'P-049': 'A connection whose TLS handshake ends during the drain is treated as a new connection.',
  'P-050': 'A server on a unix socket drains like one on a port.',
  'P-051': 'A socket error during the drain never becomes an uncaught exception.',
  'P-052': 'A response that ends after its socket has closed throws nothing.',
  'P-053': 'If a server already has connections, lameduck either manages them too or throws an error.',
  'P-054': 'A server that never listened, or is about to listen when the shutdown begins, shuts down cleanly.',
  'P-055': 'If the program or its framework closes the server during the drain, the drain continues unchanged.',
  'P-056': 'The shutdown runs only once, whether a process signal, a call in code or an uncaught error starts it.',
  'P-057':
    'A second process signal ends the process with code 1 after one log line. A process signal within 100 ms of the first counts as the first, because some process managers send it twice, or send another signal.',
  'P-058':
    'After a clean drain, the exit code is 0 even if timers or handles are left. Each kind of abnormal exit has its own code.',
  'P-059': 'A supervisor that expects the process to be killed by the signal can get that instead of an exit code.',
  'P-060': 'The last log line is written completely, even if the reader of the pipe is slow.',
  'P-061': 'If a worker thread writes the log, all lines are written before the exit.',
  'P-063':
    'After an uncaught error, the error is logged, readiness fails, and the process exits with a code other than 0 after a limited drain.',
  'P-064': 'An unhandled rejection has the same effect as in Node.',
  'P-065': 'If a process runs under `npm start` or a shell, which may not forward process signals, the log warns once.',
  'P-066': 'As PID 1, the process needs no init: its signal handlers are installed before it listens.',
  'P-067': 'A process signal during the start (before listening, or during a post-start hook) leads to a clean exit.',
  'P-068': "PM2's IPC message `shutdown` starts the shutdown, as a process signal does.",
  'P-069':
    'lameduck does not handle SIGHUP and SIGUSR2 unless configured, and never handles the signals of a fault, such as SIGSEGV.',
  'P-070': "Signal listeners of other libraries continue to work, and lameduck's listeners can be removed.",
  'P-071':
    'The primary of `node:cluster` forwards the process signal and waits for its workers. If the primary disconnects a worker or exits, the worker drains first.',
  'P-072':
    'The main thread tells its worker threads about the shutdown, waits for them, and ends them at the deadline.',
  'P-073':
    'No timer of lameduck keeps the process alive. A thousand starts and stops in one process leave no warning, listener, timer or handle.',
  'P-074': 'Time is monotonic: if the wall clock is changed, the drain takes the same time.',
  'P-075':
    'Delay, drain and hooks must fit into `terminationGracePeriodSeconds`. If they do not, the process exits with an error at its start.',
  'P-076': 'A preStop sleep and a shutdown delay of the process add up, and the log reports that both are set.',
  'P-077': '`/readyz` fails within 10 ms of the process signal, and `/livez` passes to the end.',
  'P-078': 'Probes are answered in every phase as long as there is a listener. They do not count as in flight.',
  'P-079': 'The probe listener closes last, after the hooks.',
  'P-080': 'A query, a trailing slash, HEAD and another letter case do not turn a probe into a 404.',
  'P-081':
    "If a check hangs, it fails at its own limit. The other checks still report, and the answer arrives before the kubelet's timeout.",
  'P-082': 'A hundred probes at the same time run each check once.',
  'P-083':
    'A check fails if it throws, rejects, times out or returns `false`; `undefined` passes. Only the log has the reason.',
  'P-084': 'The result of one endpoint never appears in another.',
  'P-085':
    'Unknown names in `exclude` cause a warning, and groups can be excluded. The path of a check runs only that check.',
  'P-086': 'Health responses forbid storing and sniffing, and are never 304.',
  'P-087': 'An unfinished start does not fail liveness before its grace period is over.',
  'P-088': 'The process becomes ready even if nothing probes it.',
  'P-089':
    'A livez check that looks like a dependency causes a warning, because a restart does not repair another service.',
  'P-090':
    'Another thread detects a blocked event loop and reports it to the log, to metrics and to probes. The blocked thread cannot report it itself.',
  'P-091':
    'Before the shutdown, a program can make itself unready and ready again. After the shutdown has begun, it cannot.',
  'P-092':
    "Only the prober's own thresholds delay a change of readiness. After `ShutdownInitiated`, readiness always fails.",
  'P-093': 'The probe listener is bound to IPv6 and IPv4, and the log has its port.',
  'P-094':
    'Pre-shutdown hooks start at `ShutdownInitiated`, in parallel with the delay. `NotAcceptingNewRequest` waits for both.',
  'P-095': 'A hook that fails or reaches its limit is logged and counted, and the shutdown continues.',
  'P-096': 'Resources such as databases are closed only after the last request, or after the deadline.',
  'P-097':
    'Destroy hooks run one at a time, in reverse order of registration; the other kinds run in parallel. No hook can be added during the shutdown.',
  'P-098': 'A hook receives the reason of the shutdown, its limit and an `AbortSignal`.',
  'P-101':
    'Each phase of the shutdown writes exactly one log line, with its duration and counts. No phase follows a later one.',
  'P-102': "Fastify's own close runs only after the drain. It then ends within 100 ms, and its onClose hooks run.",
  'P-103':
    'The drain is the same on every Fastify from 5.8 on, including versions whose close destroys requests in flight.',
  'P-107':
    'Outside a cluster, the default delay is 0, and the log says so. Under a watcher or in a terminal, a restart does not wait for idle connections either.',
  'P-111':
    "Only an override of `process.emit` can delay the program's own signal listeners. Node uses the override only for signals that get their first listener later, so lameduck removes older listeners and adds them again.",
  'P-112':
    'An own-property `emit` on a server works together with tracers that patch the prototype. Node announces each server that begins to listen, even one that a framework hides.',
  'P-113':
    "A listener for `upgrade`, `checkContinue` or `request` changes Node's own behavior, so lameduck adds none to a server.",
  'P-114':
    '`net.Server.prototype.close` stops listening and still serves kept-alive connections. `http.Server.prototype.close` also ends the idle connections.',
  'P-115':
    "Fastify's own close answers every route and probe with 503 and may wait for idle connections. lameduck therefore replaces `close` on the root instance, and every other way to close the application calls it.",
  'P-116':
    'A framework that sends the process signal to its own process, or closes a closed server, does not change the exit code.',
  'P-117':
    'Every thread and child process inherits `NODE_OPTIONS`, including npm, scripts and probes. Until an HTTP server listens in it, such a process behaves as without lameduck.',
  'P-118':
    'While the main thread is blocked, another thread can write with `fs.writeSync`, but not with `console.log`. It cannot end the process if the process is PID 1.',
  'P-119':
    'The additional cost of a request is measured in nanoseconds; the whole request takes about 25 µs. A thread costs about 50 ms and 18 MiB once.',
  'P-120':
    'If a handler sends `Connection: keep-alive`, lameduck overrides it per response, and only during the drain.',
  'P-121': 'lameduck neither reads nor reports the variables that Kubernetes injects for a Service named `lameduck`.',
  'P-122':
    'If a process receives SIGTERM without a deletion of its pod, only the readiness probe removes the pod from its Services.',
  'P-123':
    'A FIN alone does not keep a request from its handler. lameduck must drop requests that arrive after its FIN.',
  ...chartRules,
  ...injectorRules,
  ...leaseRules,
  ...kubeletRules,
};
