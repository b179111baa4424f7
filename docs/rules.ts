// What each number stands for, in one sentence or two. docs/conformance.md is generated from this list, from the tests
// and comments that cite a number, and from differences.ts.

/** The families of numbers, by their letter. */
export const families = {
  A: 'what the Kubernetes apiserver does during its life and its shutdown',
  K: 'what the kubelet does with probes and with a pod that ends',
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
  'A-042': 'Each post-start hook is the check `poststarthook/<name>`.',
  'A-043':
    'Post-start hooks begin together once the server listens; the check of each fails until its hook has succeeded.',
  'A-044': 'A post-start hook that fails ends the process at once.',
  'A-045':
    'What a post-start hook started goes on through the delay; its context ends when the HTTP server is told to stop.',
  'A-046': 'A post-start hook that still runs when the server stops, and then fails, turns a clean end into a crash.',
  'A-055': 'A pre-shutdown hook needs a unique, non-empty name and has to be registered before the hooks begin.',
  'A-056': 'Pre-shutdown hooks run one after another in random order, without a limit.',
  'A-057': 'While a pre-shutdown hook runs, it can call its own server, even after the delay has passed.',
  'A-059': 'When a pre-shutdown hook has failed, the process ends without waiting for the requests in flight.',
  'A-060': 'A pre-shutdown hook that panics ends the process at once.',
  'A-061': 'A pre-shutdown hook that never returns holds up the shutdown for ever.',
  'A-070':
    '`/healthz`, `/livez` and `/readyz` are exact paths, and each check has a path of its own below them; its name may contain slashes.',
  'A-072':
    '`ping` is a check of each endpoint and always passes; `shutdown` is a check of `/readyz` alone and stands last.',
  'A-073': 'An endpoint without checks has `ping`.',
  'A-074': 'Checks are reported in the order of registration, and none can be added once the endpoints are served.',
  'A-085':
    'A health endpoint that passes answers 200 with the two bytes `ok`, as plain text in UTF-8 that must not be sniffed.',
  'A-086': 'With the query key `verbose`, whatever its value, a passing endpoint lists its checks, one line each.',
  'A-087': 'A health endpoint that fails answers 500, never 503, and always lists its checks.',
  'A-088':
    'A check is reported as `[+]name ok`, `[-]name failed: reason withheld` or `[+]name excluded: ok`, and names that `exclude` could not find get one line of warning.',
  'A-089':
    '`exclude` names a check to be left out and can be repeated; a check left out does not run, and an unknown name changes nothing but the report.',
  'A-095': 'The path of a single check answers 200 `ok`, or 500 with the real reason of the failure.',
  'A-097': '`/readyz/shutdown` says during the shutdown that the process is shutting down.',
  'A-106':
    'During the shutdown `/readyz` fails by its check `shutdown`, while `/livez` and `/healthz` go on passing as long as the listener is open.',
  'A-120':
    'During the delay everything is served on old and new connections, and no response carries a sign of the coming end.',
  'A-122':
    'With `shutdownSendRetryAfter`, from `NotAcceptingNewRequest` on, new and kept connections alike are answered 429.',
  'A-126': 'Health and metrics paths, and the server’s calls to itself, are exempt from the refusals of a shutdown.',
  'A-145': 'Watches that are left when their grace period ends are not ended but die with the process.',
  'A-150':
    'The server has limits of its own for headers and idle connections: 32 s for the headers, 90 s for an idle connection.',
  'A-151': 'The listener closes first, then idle connections; active connections are never closed by force.',
  'A-152': 'A connection that has not sent a request counts as idle only after 5 s and holds up the stop so long.',
  'K-100': 'PID 1 ignores a process signal that it has no handler for, and is killed at the end of its grace period.',
  'K-166': 'The grace period of a pod that is being ended can become shorter but never longer.',
  'K-211':
    'After an uncaught error a process says why, drains for at most two seconds and exits with a code that is not 0.',
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
  'P-027': 'A handler that never ends is named by its route before its connection is closed by force.',
  'P-029': 'A response that a framework has handed over to the handler is counted like any other.',
  'P-030': 'A request that fails before any handler (404, bad URL, unreadable head) is never left over in the count.',
  'P-031': 'Requests injected without a socket do not disturb the count.',
  'P-041':
    'A client that asks for another protocol on a connection that came late is refused like any other, while the connection still speaks HTTP.',
  'P-047': 'Requests in flight over TLS survive the shutdown like those in the clear.',
  'P-049': 'A TLS handshake that ends during the drain makes a new connection, treated as one.',
  'P-051': 'A socket error during the drain never becomes an uncaught exception.',
  'P-052': 'A response that finishes when its socket is gone already throws nothing.',
  'P-053': 'A server that has connections already is taken over with them, or refused loudly.',
  'P-054': 'A server that never listened, or is about to, shuts down cleanly.',
  'P-055': 'When the program or its framework closes the server during our drain, the drain goes on undisturbed.',
  'P-056': 'Whatever begins the shutdown (either process signal, code, an uncaught error), it runs once.',
  'P-057':
    'A second process signal ends the process with code 1 after one line of log; the same one within 100 ms counts as the first.',
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
  'P-069': 'SIGHUP and SIGUSR2 are left alone unless asked for, and signals of a fault are never taken.',
  'P-070': 'Signal listeners of other libraries keep working, and ours can be removed.',
  'P-073':
    'No timer of ours keeps the process alive or is left behind: a thousand starts and stops in one process leave no warning, listener, timer or handle.',
  'P-074': 'Time is monotonic: a jump of the clock does not change the drain.',
  'P-075':
    'Delay, drain and hooks have to fit into `terminationGracePeriodSeconds`; when they do not, the start says so.',
  'P-077': '`/readyz` is red within 10 ms of the process signal, and `/livez` stays green to the end.',
  'P-078': 'Probes are answered in every phase as long as there is a listener, and are not counted as in flight.',
  'P-080': 'Query, trailing slash, HEAD and letter case do not turn a probe into 404.',
  'P-081': 'A check that hangs fails by its own limit while the others still report, all before the kubelet gives up.',
  'P-083':
    'A check fails when it throws, rejects, times out or returns `false`; `undefined` passes; the reason is in the log only.',
  'P-084': 'The result of one endpoint never shows in another.',
  'P-086': 'Health responses forbid storing and sniffing, and are never 304.',
  'P-088': 'Being ready does not depend on being probed.',
  'P-091': 'A program can turn itself unready and ready again before the shutdown, and not after it has begun.',
  'P-094':
    'Pre-shutdown hooks begin at `ShutdownInitiated`, beside the delay, and `NotAcceptingNewRequest` waits for both.',
  'P-095': 'A hook that fails or reaches its limit is logged and counted, and the sequence goes on.',
  'P-096': 'What closes databases and their like runs only after the last request, or after the deadline.',
  'P-097':
    'Destroy hooks run one by one in reverse order of registration, the other kinds beside each other; during the shutdown none can be added.',
  'P-098': 'A hook is given the reason of the shutdown, its limit and an `AbortSignal`.',
  'P-101': 'Each phase writes exactly one line of log, with its duration and counts, and phases never go back.',
  'P-107': 'Outside a cluster the delay is 0 unless set, and the log says so.',
  'P-112': 'An `emit` of a server’s own composes with tracers that patch the prototype.',
  'P-113':
    'A listener for `upgrade`, `checkContinue` or `request` changes what Node itself does, so none is added to a server.',
  'P-114':
    'The close of `net.Server` stops listening and goes on serving kept connections, where the close of `http.Server` ends the idle ones.',
  'P-116':
    'Frameworks that repeat the process signal to themselves, or close a server that is closed, do not change the exit code.',
  'P-120': 'A handler that writes `Connection: keep-alive` itself is overridden per response, and only in the drain.',
  'P-121': 'Variables that Kubernetes injects for a Service named `lameduck` are neither read nor reported.',
  'P-123':
    'FIN alone does not keep a request from its handler: what arrives after our FIN has to be swallowed before it.',
};
