// The rules of lameduck's behaviour, each with its number and one or two sentences. docs/conformance.md is generated
// from this list, from the tests and comments that cite a number, and from differences.ts.
import { chartRules } from './chart-rules.ts';
import { injectorRules } from './injector-rules.ts';
import { leaseRules } from './lease-rules.ts';
import { kubeletRules } from './kubelet-rules.ts';

/** `families` maps the letters of rule numbers, such as `HC`, to the subject of the rules with these letters. */
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

/** All rules of lameduck's behaviour. The key is the number of the rule. */
export const rules: Readonly<Record<string, string>> = {
  'A-001':
    'A lifecycle signal, such as `ShutdownInitiated`, has a name and fires once. It then stays fired, and firing it again changes nothing.',
  'A-002':
    'The lifecycle of a server has eight signals: `MuxAndDiscoveryComplete`, `HasBeenReady`, `ShutdownInitiated`, `AfterShutdownDelayDuration`, `PreShutdownHooksStopped`, `NotAcceptingNewRequest`, `InFlightRequestsDrained` and `HTTPServerStoppedListening`.',
  'A-003':
    '`ShutdownInitiated` fires when the process receives a request to stop, such as SIGTERM. From then on, `/readyz` answers 500.',
  'A-004':
    '`AfterShutdownDelayDuration` fires exactly one shutdown delay after `ShutdownInitiated`. With a delay of 0, it fires at once. Nothing shortens the delay.',
  'A-005':
    'Pre-shutdown hooks start at `ShutdownInitiated`. `PreShutdownHooksStopped` fires when the last hook has returned, with or without an error.',
  'A-006':
    '`NotAcceptingNewRequest` fires when both the shutdown delay and the pre-shutdown hooks have ended. Until then, every request is served.',
  'A-007':
    "The apiserver's signal `InFlightRequestsDrained` fires when all requests that are not long-running have ended. If watches have a grace period, `InFlightRequestsDrained` fires only when the watches have ended too.",
  'A-008':
    'By default, the listener stops at the lifecycle signal `NotAcceptingNewRequest`. The requests in flight drain after that.',
  'A-009':
    'With `shutdownSendRetryAfter`, the HTTP server begins to stop at `InFlightRequestsDrained`. The stop takes at most two seconds.',
  'A-010':
    'If requests are in flight at the shutdown, the last lifecycle signals fire in this order by default: `NotAcceptingNewRequest`, `HTTPServerStoppedListening`, `InFlightRequestsDrained`.',
  'A-011':
    'With `shutdownSendRetryAfter`, the last lifecycle signals always fire in this order: `NotAcceptingNewRequest`, `InFlightRequestsDrained`, `HTTPServerStoppedListening`.',
  'A-012':
    'After the signal `HTTPServerStoppedListening`, the server accepts no connection. Open connections may remain.',
  'A-013': '`HasBeenReady` fires at the first probe of `/readyz` that passes.',
  'A-014':
    '`MuxAndDiscoveryComplete` fires when all request handlers are installed. It never fires after a shutdown has begun.',
  'A-016':
    'At its start, the server first listens. Then the post-start hooks start. Last, the process begins to wait for the shutdown.',
  'A-018':
    "The apiserver's run function returns only after the hooks, the drain, the audit flush and the stop of the listener. Destroy functions run last, even if an earlier step has failed.",
  'A-020':
    "The apiserver's shutdown as a whole has no deadline. The delay, the drain and the closing of the listening socket have time limits. Hooks and the audit flush have no time limit.",
  'A-030': 'The process signals SIGINT and SIGTERM start the shutdown.',
  'A-031':
    'The first process signal starts the shutdown. A second SIGINT or SIGTERM ends the process with exit code 1.',
  'A-032': 'A process of the apiserver can install its handler for process signals only once.',
  'A-033':
    'After a clean shutdown, the process exits with code 0. After any other shutdown, it exits with another code.',
  'A-040':
    'A post-start hook needs a function and a unique, non-empty name. It must be registered before the post-start hooks start.',
  'A-041':
    'The apiserver has a list of disabled hooks. A post-start hook on this list is skipped without a log line, and has no health check.',
  'A-042':
    'Each post-start hook is also a health check of `/healthz` and `/readyz`, named `poststarthook/<name>`. After the livez grace period, it is also a check of `/livez`.',
  'A-043':
    'Post-start hooks start together when the server listens. The health check of a hook fails until the hook has ended without an error.',
  'A-044': "If a post-start hook fails, the apiserver's process ends at once.",
  'A-045':
    'Work that a post-start hook has started continues through the shutdown delay. The context of the hook is cancelled when the HTTP server stops.',
  'A-046':
    'If a post-start hook still runs when the apiserver stops, and then fails, the process crashes instead of exiting cleanly.',
  'A-047': 'Each post-start hook of the apiserver receives a client for this server. The client has every permission.',
  'A-048':
    'The apiserver has built-in post-start hooks: for its informers, its request limits and its counts of stored objects.',
  'A-049':
    'The apiserver has a built-in hook that waits for the storage. After a minute, the hook logs a warning and succeeds.',
  'A-055':
    'A pre-shutdown hook needs a unique, non-empty name. It must be registered before the pre-shutdown hooks start. The apiserver ignores a hook without a function.',
  'A-056': 'The apiserver runs pre-shutdown hooks one after another, in random order and without a time limit.',
  'A-057': 'While a pre-shutdown hook runs, it can send requests to its own server, even after the shutdown delay.',
  'A-058': 'All pre-shutdown hooks run, even if some fail. The apiserver combines their errors into one.',
  'A-059': 'If a pre-shutdown hook has failed, the apiserver exits without waiting for the requests in flight.',
  'A-060': "If a pre-shutdown hook panics, the apiserver's process ends at once.",
  'A-061': "A pre-shutdown hook that never returns blocks the apiserver's shutdown forever.",
  'A-070':
    'The apiserver serves `/healthz`, `/livez` and `/readyz` only at exactly these paths. Each check has a path below them, and its name may contain slashes. The index at `/` lists all paths.',
  'A-071': 'A probe may use any HTTP method.',
  'A-072':
    'Each health endpoint has the check `ping`, which always passes, and the check `log`. Only `/readyz` has the check `shutdown`, which is the last one.',
  'A-073': 'If no other check is added to a health endpoint, it still has the check `ping`.',
  'A-074':
    'Health checks are reported in the order of registration. No check can be added after the server has begun to serve the health endpoints.',
  'A-075':
    'During the livez grace period, the check of a post-start hook passes on `/livez` without running. The period begins with the registration of the hook. The other endpoints have no grace period.',
  'A-076':
    'An apiserver that wraps another server takes over the health checks of that server, without a livez grace period.',
  'A-077':
    'From its first run on, the health check `log` flushes the log every minute. It fails if the last completed flush is two minutes old.',
  'A-078': '`/readyz` of the apiserver fails until all its informers have synced.',
  'A-079':
    'On the apiserver, the storage is a check of `/healthz`, `/livez` and `/readyz`. The readiness of the storage is a second check of `/readyz`.',
  'A-080':
    "The apiserver's health check of the storage contacts the storage only once per interval. Until the next interval, it repeats the last result.",
  'A-085':
    'A passing health endpoint answers 200 with the body `ok`. The content type is plain text in UTF-8, with `nosniff` and `Cache-Control: no-cache, private`.',
  'A-086':
    'If the query of a health probe has `verbose`, whatever its value, a passing endpoint lists its checks, one per line.',
  'A-087': 'A failing health endpoint answers 500, never 503, and always lists its checks.',
  'A-088':
    'The report of a health endpoint has one line per check: `[+]name ok`, `[-]name failed: reason withheld`, `[+]name excluded: ok` or `[+]name excluded with group: ok`. One warning line lists the names in `exclude` that match no check.',
  'A-089':
    'The query parameter `exclude` of a probe names a check or a group of checks, and can be repeated. An excluded check does not run. An unknown name only changes the report.',
  'A-090': 'With `?exclude=shutdown` in its query, a probe of `/readyz` passes during the shutdown.',
  'A-091': 'A health check with a livez grace period cannot be excluded by the name of its group.',
  'A-092': 'The last line of the report of a health endpoint contains the name of the endpoint.',
  'A-095': 'The path of a single health check answers 200 `ok`, or 500 with the reason of the failure.',
  'A-096': 'The path of a single health check ignores `verbose` and `exclude`, and no metric counts it.',
  'A-097': 'During the shutdown, `/readyz/shutdown` answers that the process is shutting down.',
  'A-100':
    'The apiserver runs health checks one after another, without a time limit. Each probe runs all of them again.',
  'A-101':
    'On the apiserver, probes pass through authentication, authorization, audit and limits, as every other request does.',
  'A-102':
    'On the apiserver, anyone can request `/healthz`, `/livez` and `/readyz`. The path of a single check requires a permission.',
  'A-103':
    'If the apiserver has only a simple limit on requests in flight, probes count as requests and can get a 429.',
  'A-104': 'For each failing probe, the apiserver writes a log line with the reasons.',
  'A-105': 'At a verbose log level, the apiserver logs names in `exclude` that match no check.',
  'A-106':
    'During the shutdown, `/readyz` fails because its check `shutdown` fails. `/livez` and `/healthz` pass as long as the listener is open.',
  'A-111':
    'A 429 or 503 because of a shutdown is sent before all other handling, so no request metric and no audit event contains the request.',
  'A-112':
    'The apiserver has lists of verbs, subresources and profiling paths. A request that matches a list is long-running.',
  'A-120':
    'During its shutdown delay, the apiserver serves every request, on existing and on new connections. No response of the apiserver shows that a shutdown has begun.',
  'A-122':
    'With `shutdownSendRetryAfter`, every request after `NotAcceptingNewRequest` gets a 429, both on new connections and on kept-alive connections.',
  'A-126': 'Requests to health and metrics paths, and calls of the server to itself, do not get the 429 of a shutdown.',
  'A-130':
    'If watches have a grace period, each watch ends at once at `NotAcceptingNewRequest`. Events that wait to be sent to its client may be lost.',
  'A-131':
    'If the shutdown ends a watch, its client sees a regular end of the response: over HTTP/1.1, the last chunk.',
  'A-133':
    "The apiserver's shutdown does not notify a watch over a WebSocket. The drain waits until the grace period of the watches ends, and then cuts the connection.",
  'A-135':
    'If watches have a grace period of 0, the apiserver does not notify them of the shutdown. They are cut when the process exits, without a last chunk.',
  'A-140':
    'During the drain, long-running requests end one at a time, at 200 per second. The rate is higher if that is necessary to end all within their grace period, which is a hard deadline.',
  'A-141':
    'During the drain, a rate limiter of the apiserver spaces out the ends of long-running requests: ending one request uses one permit. The order of the requests is not defined. Before the drain, the limiter is not used.',
  'A-143':
    'When the grace period of the watches is over, the drain stops waiting for them, even if some are still open.',
  'A-145':
    'Some watches are still open when `--shutdown-watch-termination-grace-period` has passed. The apiserver does not end these watches: they are cut when the process exits.',
  'A-150': 'The apiserver sets its own timeouts: 32 s for the headers of a request, 90 s for an idle connection.',
  'A-151':
    'When the server stops, the listener closes first, then idle connections close. Active connections are never closed by force.',
  'A-152':
    'On the apiserver, a new connection without a request counts as idle only after 5 s. The shutdown of the apiserver waits for these 5 s.',
  'A-156': "The apiserver's shutdown neither waits for upgraded connections nor closes them.",
  'A-161':
    'With `goawayChance`, the server sends a GOAWAY after a small random part of the HTTP/2 requests, so that clients spread over its replicas. Requests in flight on the connection continue. HTTP/1.1 is not affected.',
  'A-170':
    'Each request that is not long-running has a timeout. The query parameter `timeout` may set a shorter one. An invalid value is answered with 400.',
  'A-171':
    'If a request times out before its handler has sent anything, the client gets a 504. Later writes of the handler fail.',
  'A-172': 'If a request times out in the middle of its response, the response is cut.',
  'A-173': 'The handler of a request that has timed out continues to run. The shutdown does not wait for it.',
  'A-174':
    'Requests above the limit of requests in flight get a 429 with `Retry-After: 1`, and the connection stays open. The apiserver has one limit for reads and one for writes. Long-running requests do not count.',
  'A-176':
    'A server that is overloaded and a server that shuts down send different bodies and different values of `Retry-After`.',
  'A-180':
    'Health checks have two metrics, which their help texts call stable. The gauge `kubernetes_healthcheck{name,type}` is 1 after a pass and 0 after a failure. The counter `kubernetes_healthchecks_total{name,type,status}` has the status `success` or `error`.',
  'A-181':
    'The metrics of health checks count each check that runs for a probe of `/healthz`, `/livez` or `/readyz`. A probe of a single check and an excluded check do not count.',
  'A-182':
    'The metrics of health checks are served at `/metrics/slis`, from a separate registry that also has the start time of the process. DELETE resets the registry.',
  'A-183': "The apiserver's request metrics count probes of `/healthz`, `/livez` and `/readyz`.",
  'A-184':
    'A metric counts the requests that were rejected because of overload, and the requests that timed out. No metric counts the requests that a shutdown has rejected.',
  'A-186': 'A gauge shows the number of open long-running requests.',
  'A-187': 'A histogram shows the durations of requests, with buckets from 5 ms to 60 s.',
  'A-188':
    'The apiserver has no metrics of its lifecycle, such as phases and the durations of a shutdown or a hook. The apiserver does not count the requests that a shutdown has drained, cut or refused.',
  'A-205':
    'The backend of the audit log starts before the server listens, and takes events until `InFlightRequestsDrained`. It then writes the queued events, without a deadline.',
  'A-206':
    'If a request or watch is in flight at the shutdown, and ends before `InFlightRequestsDrained`, the audit log contains it.',
  'A-217': 'The probability of a GOAWAY must be from 0 to 0.02.',
  'A-218': 'The limit of requests in flight must not be negative. The value 0 disables the limit.',
  'A-248':
    'A post-start hook that blocks until its context ends makes `/readyz` fail forever. No log line reports that the hook should have returned.',
  'K-012': 'An HTTP probe passes with a status from 200 to 399.',
  'K-015':
    'If the body of the response to an HTTP probe does not arrive completely, the probe has an error, whatever the status.',
  'K-016':
    'The kubelet reads at most 10 KiB of the response to a probe. A longer body is truncated, without effect on the result.',
  'K-021': 'Each HTTP probe uses a new connection and sends `Connection: close`. It accepts no compression.',
  'K-030':
    'A TCP probe opens a connection and sends nothing. The server must not treat the connection as an error, log it, or count it as traffic.',
  'K-032':
    'A gRPC probe calls `Check` of the standard health service without TLS. By default, the name of the service in the call is empty.',
  'K-033':
    'A gRPC probe passes only with the status `SERVING`. Every other answer fails the probe, including an unknown service.',
  'K-035': 'An exec probe passes with exit status 0. If it fails, its output is the reason.',
  'K-036': 'If an exec probe exceeds its timeout, the probe fails, and the kubelet kills its command.',
  'K-096':
    'A postStart hook runs while the main process starts. Until the hook has ended, the kubelet does nothing else with the pod. If the hook fails, the kubelet kills the container.',
  'K-100':
    'The kernel drops a signal to PID 1 if PID 1 has no handler for it. The kubelet kills such a process at the end of its grace period.',
  'K-115':
    "The kubelet keeps the last 4096 bytes of a container's termination message. If the pod has n containers, and n is 4 or more, the kubelet keeps the first 12 288 / n bytes of each message.",
  'K-166': 'The grace period of a pod that is being deleted can become shorter, but never longer.',
  'K-193':
    'The kubelet sends probes from outside the pod, so the server must listen on every address, not only on loopback.',
  'K-194':
    'The process installs its signal handlers before it waits for anything, also as PID 1. It handles the stop signal of its image.',
  'K-195':
    'If a process signal arrives before the process listens, the process exits within a second, with code 0 and without opening a port.',
  'K-196':
    'The probe port opens early. The readiness probe fails on the probe port until everything that the server needs is available.',
  'K-197':
    'The liveness probe depends on no other process and on no code of the program. It is answered within 100 ms under full load.',
  'K-198': 'The liveness probe passes throughout the drain. It fails only because of a fault that a restart repairs.',
  'K-199':
    'A failing readiness probe gets a 503. The response is less than 10 KiB with `Content-Length`, is sent in one write, and never redirects.',
  'K-200':
    'The process answers probes for any `Host` and query, with GET and HEAD, and with `Connection: close`. It does so over TLS without a server name, and over HTTP/2 if the server offers it.',
  'K-201':
    'Probes appear in no log at info level and in no request metric. No limit applies to them. A process under full load still answers probes.',
  'K-202': 'If a client closes a connection without a byte, or aborts a TLS handshake, the server logs nothing.',
  'K-203':
    'On the stop signal, readiness fails. The listener stays open for the shutdown delay, and responses carry `Connection: close`. Then the listener closes, idle connections end, and requests in flight finish. WebSockets are closed with 1001, close hooks run in reverse order, the log is flushed, and the exit code is 0.',
  'K-204': 'During the shutdown delay, every new connection and request is served as before.',
  'K-205':
    'A setting decides whether readiness fails during the drain (`fail`) or passes (`hold`). The answer to the probe names the phase.',
  'K-206':
    'Every wait of the shutdown has a limit: idle, half-open and slow connections are cut at the deadline of the drain. The process ends within the grace period, minus the preStop hook, minus one second. The default grace period is 30 s.',
  'K-207':
    'One second before the end of the shutdown budget, open requests are logged and destroyed, and the exit code shows this. The process never waits so long that the kubelet sends SIGKILL.',
  'K-208':
    'A request that began before the listener closed gets its real response. Long polls and event streams end early and tell the client when to reconnect.',
  'K-209':
    "If the process has an endpoint for an HTTP preStop hook, this endpoint can be called twice and returns quickly. The kubelet's kept-alive connection to it does not delay the exit.",
  'K-210': 'A second process signal ends the process at once. The exit code is 128 plus the number of the signal.',
  'K-211':
    'After an uncaught error, the process logs the error, drains for at most two seconds and exits with a code other than 0.',
  'K-212':
    'On an abnormal exit, the process writes one message of at most 3072 bytes to the termination message path, with the cause first. It writes synchronously, into the existing file. It writes nothing on a clean exit. A missing file is not an error.',
  'K-213':
    "If a proxy forwards the requests, the server's keep-alive timeout is longer than 60 s, and `headersTimeout` is even longer. The number of requests and the age of a connection are limited.",
  'K-214':
    'If the process has only two seconds for its whole shutdown, it flushes its state first and loses nothing. A thousand idle connections do not make the drain longer.',
  'K-215':
    'The shutdown follows the Kubernetes apiserver. `/readyz` fails at once, and every request is served during the shutdown delay. Then no new request is accepted, requests in flight end, and the listeners close. A second process signal makes the process exit with code 1.',
  'P-001':
    'During the shutdown, each connection has a close time. Its next response whose headers are sent after this time carries `Connection: close`. This includes the response to a request from before the process signal.',
  'P-002':
    'The server ends a kept-alive connection as soon as a response with `Connection: close` has been flushed. If the last response had no such header, the drain ends the connection after one second of silence.',
  'P-003':
    'Thirty clients, each sending its next request right after the last response on a kept-alive connection, see no ECONNRESET over twenty shutdowns.',
  'P-004':
    'An idle connection stays open until it has been silent for one second, with and without a shutdown delay. A request that arrives in that second is served with `Connection: close`.',
  'P-005':
    'A request sent on an idle connection in the same millisecond as the process signal gets a complete response.',
  'P-006': 'The drain ends an idle connection with a FIN, and destroys it only after a further, limited wait.',
  'P-007':
    'The drain ends idle connections one after another, so that their clients do not all reconnect at the same time.',
  'P-008':
    'A client that sends requests without a pause on one connection cannot keep the process alive. In the drain, the client gets one more response, with `Connection: close`.',
  'P-009':
    'If a client pipelines two requests during the drain, both get a response. Only if the first response carries `Connection: close`, the second request gets none.',
  'P-010':
    "If requests are queued on a connection during the drain, the last response carries `Connection: close`. Later requests, and requests after the server's FIN, reach no handler.",
  'P-011':
    'A connection that never sent a byte ends after one second of silence and never delays the exit of the process.',
  'P-012':
    'If only a part of a request line or head has arrived when the process signal does, the server waits for the rest. If the rest arrives in time, the request is served.',
  'P-013':
    "If a client never sends the rest of a request head, the server ends the connection with a FIN before the end of the drain's time.",
  'P-014': 'A client that has sent its request and then a FIN still gets its response.',
  'P-015':
    'During the drain, a client that uses HTTP/1.0 or sends `Connection: close` gets its responses as before: each response ends its connection.',
  'P-016':
    'During the drain, lameduck overrides a `Connection` header of the handler and sends no `Keep-Alive` header.',
  'P-017':
    "The program's own limits (`maxRequestsPerSocket`, `keepAliveTimeout`, `requestTimeout`) also apply during the drain.",
  'P-018': 'The listener closes without resetting the connections that wait in its backlog.',
  'P-019':
    'With `shutdownSendRetryAfter`, a connection accepted after `NotAcceptingNewRequest` gets a 429 with `Retry-After` and `Connection: close`. The server sends its FIN after the client had time to read the response.',
  'P-020': 'If a server has several listeners (IPv4 and IPv6, a unix socket, two ports), they drain together.',
  'P-021':
    'A request counts as in flight until its response closes, complete or not. An aborted request therefore never delays the drain.',
  'P-022': 'An upload in progress at the process signal is received completely and answered.',
  'P-023':
    'An upload that makes no progress is cut at the deadline of the drain, and logged with method, route and age.',
  'P-024':
    'A client that waits for `100 Continue` at the process signal gets the 100 and a full response. On a connection that is refused, the client gets only the refusal.',
  'P-025':
    'Before its deadline, the drain does not touch a response in progress. A response that is cut at the deadline counts as cut.',
  'P-026':
    'If a client still sends the body of a request that was answered, the server continues to read within limits. Otherwise it would reset the connection, which would discard the response.',
  'P-027': 'If a handler never ends its response, its route is logged before its connection is destroyed.',
  'P-028':
    'The drain aborts the `AbortSignal` of a long-running request when the drain ends that request. The `AbortSignal` of any other request is aborted only at the deadline of the drain.',
  'P-029':
    'If a handler writes to the raw response instead of using the framework, its request is counted like any other.',
  'P-030':
    'A request that fails before it reaches a handler (404, bad URL, invalid head) never stays in the count of requests in flight.',
  'P-031': 'Requests that the program itself injects or emits do not change the count of requests in flight.',
  'P-032': 'HEAD and OPTIONS requests are counted like any other. A CONNECT tunnel is long-running.',
  'P-033':
    'A request to a route that is marked as long-running is counted separately. The drain ends such a request, and does not wait until it ends on its own.',
  'P-034': 'An event stream that the drain ends gets a `retry:` for its client and then its last chunk.',
  'P-035': 'A long poll gets an answer during the drain and is not cut.',
  'P-036': 'Long-running requests end at a limited rate, at least 200 per second, and not all at once.',
  'P-037':
    'If a long-running request ends on its own, the drain does not end it again and continues with the next request.',
  'P-038':
    'A long-running request that begins during the shutdown is refused, or must end by the same deadline as all other long-running requests.',
  'P-039':
    'At the shutdown, a WebSocket gets a close frame with 1001 and a reason. lameduck sends it through the object that `ws` stores on the socket. If the peer does not answer in time, the socket is terminated.',
  'P-040':
    'At the shutdown, a socket that was upgraded to an unknown protocol gets a FIN. If the peer does not answer, the socket is destroyed.',
  'P-041':
    'During the drain, lameduck refuses an upgrade request while the connection still speaks HTTP. With `shutdownSendRetryAfter`, an upgrade request on a connection that was accepted during the drain gets a 429. On a kept-alive connection, an upgrade request gets a 503 with `Connection: close`.',
  'P-042':
    'During the drain, on every version of Node, every HTTP/2 session gets a GOAWAY and ends after its last stream.',
  'P-043':
    'During the drain, an HTTP/2 session without TLS gets two GOAWAYs, so that a stream opened between them is served. Over TLS, it gets one GOAWAY, if possible at a moment when the session has no open stream.',
  'P-044':
    'During the shutdown, an HTTP/2 session without streams ends at its close time. A stream that never ends is cut at the deadline of the drain, together with its session.',
  'P-045': 'A server that supports HTTP/1.1 and HTTP/2 drains each connection by its own protocol.',
  'P-046':
    'The gRPC health service answers `NOT_SERVING` from `ShutdownInitiated` on. A client that watches receives this status before its stream ends.',
  'P-047': 'Requests in flight over TLS survive the shutdown, as they do without TLS.',
  'P-048': 'A client that never starts or never finishes its TLS handshake does not delay the exit of the process.',
  'P-049':
    'If the TLS handshake of a connection is completed during the drain, the connection counts as opened during the drain, even if its TCP connection is older.',
  'P-050': 'A server on a unix socket drains like one on a port.',
  'P-051': 'A socket error during the drain never becomes an uncaught exception.',
  'P-052': 'If a response ends after its socket has closed, lameduck throws no error.',
  'P-053':
    'If a server already has connections when `lameduck()` is called, lameduck either manages them too or throws an error.',
  'P-054': 'A server that never listened, or is about to listen when the shutdown begins, shuts down cleanly.',
  'P-055': 'If the program or its framework closes the server during the drain, the drain continues unchanged.',
  'P-056':
    'The shutdown of a process runs only once, even if several process signals, calls of the program or uncaught errors would start it.',
  'P-057':
    'A second process signal ends the process with code 1 after one log line. A process signal within 100 ms of the first counts as the first, because some process managers send it twice, or send another signal.',
  'P-058':
    'After a clean drain, the exit code is 0 even if timers or handles are left. Each kind of abnormal exit has its own code.',
  'P-059':
    'Some supervisors expect that the signal kills the process. For such a supervisor, the process can end by the signal instead of with an exit code.',
  'P-060': 'The last log line is written completely, even if the reader of the pipe is slow.',
  'P-061': 'If a worker thread writes the log, all lines are written before the process exits.',
  'P-063':
    'After an uncaught error, the error is logged, readiness fails, and the process exits with a code other than 0 after a limited drain.',
  'P-064': 'Under lameduck, an unhandled rejection has the same effect as in Node alone.',
  'P-065': 'If a process runs under `npm start` or a shell, which may not forward process signals, the log warns once.',
  'P-066': 'As PID 1, the process needs no init process, because its signal handlers are installed before it listens.',
  'P-067': 'A process signal during the start (before listening, or during a post-start hook) leads to a clean exit.',
  'P-068': "PM2's IPC message `shutdown` starts the shutdown, as a process signal does.",
  'P-069':
    'lameduck does not handle SIGHUP and SIGUSR2 unless configured, and never handles the signals of a fault, such as SIGSEGV.',
  'P-070': "Signal listeners of other libraries continue to work, and lameduck's listeners can be removed.",
  'P-071':
    'The primary of `node:cluster` forwards the process signal and waits for its workers. If the primary disconnects a worker or exits, the worker drains first.',
  'P-072':
    'The main thread notifies its worker threads of the shutdown, waits for them, and ends them at the deadline of the drain.',
  'P-073':
    'No timer of lameduck keeps the process alive. A thousand starts and stops in one process leave no warning, listener, timer or handle.',
  'P-074': 'Time is monotonic: if the wall clock is changed, the drain takes the same time.',
  'P-075':
    'The shutdown delay, the drain and the hooks must fit into `terminationGracePeriodSeconds`. If they do not fit, the process exits with an error at its start.',
  'P-076':
    'If a pod has a preStop sleep and its process has a shutdown delay, the two times pass one after the other. The log reports that both are set.',
  'P-077': '`/readyz` fails within 10 ms of the process signal. `/livez` passes until the process ends.',
  'P-078':
    'Probes are answered in every phase of the shutdown as long as there is a listener. They do not count as requests in flight.',
  'P-079': 'The probe listener closes last, after the hooks.',
  'P-080':
    'A probe path may have a query, a trailing slash or capital letters, and may be requested with HEAD. The answer is never a 404.',
  'P-081':
    "If a health check hangs, it fails at its own limit. The other checks still report, and the answer arrives before the kubelet's timeout.",
  'P-082': 'If a hundred probes arrive at the same time, the server runs each check once.',
  'P-083':
    'A health check fails if it throws, rejects, times out or returns `false`. A check that returns `undefined` passes. Only the log has the reason.',
  'P-084': 'The result of one health endpoint never appears in the answer of another.',
  'P-085':
    'If the query parameter `exclude` of a probe names an unknown check, a verbose or failing response contains a warning. A probe can also exclude a group of checks. A probe of the path of a single check runs only this check.',
  'P-086':
    'The responses of health endpoints have headers that forbid caching and content sniffing. Their status is never 304.',
  'P-087': 'If the start of a program has not finished, `/livez` fails only after the livez grace period.',
  'P-088': 'The process becomes ready even if no client probes it.',
  'P-089':
    'A check of `/livez` that looks like a dependency causes a warning, because a restart does not repair another service.',
  'P-090':
    'Another thread detects a blocked event loop and reports it to the log, to metrics and to probes. The blocked thread itself cannot report the block.',
  'P-091':
    'Before the shutdown, a program can make itself unready and ready again. After the shutdown has begun, it cannot.',
  'P-092':
    'A change of readiness takes effect as soon as the thresholds of the prober allow it. After `ShutdownInitiated`, readiness always fails.',
  'P-093': 'The probe listener is bound to IPv6 and IPv4, and the log shows its port.',
  'P-094':
    'Pre-shutdown hooks start at `ShutdownInitiated`, in parallel with the shutdown delay. `NotAcceptingNewRequest` waits for both.',
  'P-095':
    'A hook of the shutdown that fails or reaches its time limit is logged and counted, and the shutdown continues.',
  'P-096':
    'Destroy hooks, which close resources such as databases, run only after the last request or after the deadline of the drain.',
  'P-097':
    'Destroy hooks run one at a time, in reverse order of registration. The other kinds of hooks run in parallel. No hook can be added during the shutdown.',
  'P-098': 'A hook of the shutdown receives the reason of the shutdown, its own time limit and an `AbortSignal`.',
  'P-101':
    'Each phase of the shutdown writes exactly one log line, with its duration and counts. The lines are in the order of the phases.',
  'P-102': "Fastify's own close runs only after the drain. It ends within 100 ms, and its onClose hooks run.",
  'P-103':
    'The drain is the same on every Fastify version from 5.8 on, including versions whose close destroys requests in flight.',
  'P-107':
    'Outside a cluster, the default shutdown delay is 0, and the log says so. Under a watcher or in a terminal, a restart waits neither for a shutdown delay nor for idle connections.',
  'P-111':
    "Only an override of `process.emit` can delay the program's own signal listeners. Node calls an override only for a signal whose first listener is added after the override. lameduck therefore removes the older listeners and adds them again.",
  'P-112':
    'lameduck sets its own `emit` on each server, and tracers that patch the prototype continue to work. On a diagnostics channel, Node publishes each server that begins to listen, even a server that a framework hides.',
  'P-113':
    "A listener for `upgrade`, `checkContinue` or `request` changes Node's own behavior, so lameduck adds none to a server.",
  'P-114':
    '`net.Server.prototype.close` stops listening and still serves kept-alive connections. `http.Server.prototype.close` also ends the idle connections.',
  'P-115':
    "Fastify's own close answers every route and probe with 503 and may wait for idle connections. lameduck therefore replaces `close` on the root instance, and every other way to close the application calls the replacement.",
  'P-116':
    'The exit code stays the same if a framework sends the process signal to its own process, or closes a server that is already closed.',
  'P-117':
    'Every thread and child process inherits `NODE_OPTIONS`, including npm, scripts and probes. Such a process behaves as without lameduck as long as it has no listening HTTP server.',
  'P-118':
    'While the main thread is blocked, another thread can write with `fs.writeSync`, but not with `console.log`. If the process is PID 1, the other thread cannot end it.',
  'P-119':
    'The CPU time that lameduck adds to a request is so short that it is given in nanoseconds. A whole request takes about 25 µs. The start of a thread takes about 50 ms, and the thread needs 18 MiB of memory.',
  'P-120': 'If a handler sends `Connection: keep-alive`, lameduck replaces this header, but only during the drain.',
  'P-121': 'lameduck neither reads nor reports the variables that Kubernetes injects for a Service named `lameduck`.',
  'P-122':
    'If a process receives SIGTERM while its pod is not being deleted, only the readiness probe removes the pod from its Services.',
  'P-123':
    'After a server has sent a FIN, Node still passes arriving requests to the handler. lameduck must drop them.',
  ...chartRules,
  ...injectorRules,
  ...leaseRules,
  ...kubeletRules,
};
