// The rules from which lameduck deliberately differs, by number, with the reasons.

export const differences: Readonly<Record<string, string>> = {
  'A-007':
    'lameduck waits for every long-running request, not only for watches, even if their grace period is 0. It ends these requests first.',
  'A-009':
    'The stop of the listener has no limit of two seconds. Its limit is the rest of the shutdown budget, so that a client that reads its 429 late is not cut.',
  'A-013':
    '`HasBeenReady` fires when the readyz checks first pass, even without a probe, because a process that nothing probes must know that it was ready. A probe that excludes checks does not fire it.',
  'A-020':
    'One deadline, the shutdown budget, covers the whole sequence and ends before SIGKILL. If the kubelet ended the process, the process could not log how it ended.',
  'A-032':
    'Each `lameduck()` call adds its servers to the shutdown of the process. A program may have several lifecycles, and a process signal drains all of them before the exit.',
  'A-041': 'lameduck has no list of disabled hooks. If you do not want a hook, do not register it.',
  'A-042':
    'Without a livez grace period, which is the default, post-start hooks are not checks of `/livez`. If they were, the kubelet would restart a slow start again and again.',
  'A-044':
    'If a post-start hook fails, `/readyz` fails, and the failure is logged. The process continues, because an exited process could neither answer probes nor report the reason.',
  'A-046':
    'If a post-start hook still runs at the shutdown, its `AbortSignal` aborts. A later error of the hook does not change the exit code.',
  'A-047':
    'A hook calls its own server as any client does. The server has no permissions to grant, and the program knows its address.',
  'A-048':
    'lameduck has no built-in hooks. Each post-start hook, and each check `poststarthook/<name>`, belongs to the program.',
  'A-049':
    'A post-start hook that gives up has failed, and `/readyz` fails: a process without its storage is not ready. A hook for an optional resource can return instead.',
  'A-055': 'A hook of any kind without a function is an error.',
  'A-056':
    'Pre-shutdown hooks run in parallel, each with a limit. If they ran one after another, their times would add up.',
  'A-058':
    'The end of the shutdown throws no error. Each failure of a hook is a log line, and an entry of the final line with the name of the hook.',
  'A-059':
    'A failed pre-shutdown hook is recorded, the drain continues, and the exit code shows the failure. The requests in flight did not cause the failure.',
  'A-060':
    'A pre-shutdown hook that throws has failed, as a hook that returns an error has, and the shutdown continues.',
  'A-061': 'Each pre-shutdown hook has a limit. At its limit, it is recorded as timed out, and the shutdown continues.',
  'A-070':
    'Probes ignore a trailing slash and the letter case of an endpoint (P-080). Without this, a misspelt probe would restart or remove a healthy pod. There is no index, because `/` belongs to the program.',
  'A-076':
    'All servers of a lifecycle share its health endpoints, and every post-start hook has the same livez grace period.',
  'A-078': 'A Node program has no informers. It adds a readyz check for each resource that it waits for.',
  'A-079':
    'lameduck checks no dependency on its own. A program adds a readyz check for each dependency. A livez check for a dependency causes a warning (P-089).',
  'A-080':
    "Probes that arrive while a check runs share its run (P-082). Only the program's own check can know how long a result stays valid.",
  'A-085':
    "`Cache-Control` has `no-store` in addition to the apiserver's `no-cache, private` (P-086), so that no cache answers instead of the process.",
  'A-091':
    'A check with a livez grace can be excluded by its group, because the grace period is stored next to the check and does not wrap it.',
  'A-095':
    'The path of a single check withholds the reason, as the report of a whole endpoint does. The path is as public as its endpoint, and the log has the reason.',
  'A-097': '`/readyz/shutdown` answers with the same line as any failed check, without the reason.',
  'A-100':
    "Checks run in parallel, each with the limit `healthCheckTimeout`, and concurrent probes share a run. A probe thus gets its answer before the kubelet's timeout, and many probers cause no load.",
  'A-101': 'lameduck answers probes itself, before any code of the program sees the request.',
  'A-102':
    'All probe paths are open and withhold the reasons (see A-095). To hide the names of the checks, restrict access in the network.',
  'A-103': 'lameduck answers probes before it applies any limit, because a busy pod must not be restarted.',
  'A-104':
    'The log has a line with the reason when the result of a check changes, not for each probe. Probes arrive every few seconds from several sources.',
  'A-105':
    'Only the answer to the probe has the names that match no check. The log does not repeat them, because a prober can send any text.',
  'A-112':
    'Requests to a Node program have no verbs. lameduck recognizes an event stream by its content type, and knows upgraded sockets. `longRunning(request)`, the config of a route or `longRunningPaths` names all other long-running requests.',
  'A-120':
    'Each connection gets a random close time in the first three quarters of the delay. Its next response after that carries `Connection: close`. Clients thus reconnect to other pods one by one while the listener is open, and none is refused.',
  'A-122':
    'Only connections accepted after `NotAcceptingNewRequest` get a 429. A request on a kept-alive connection is served with `Connection: close`. The client could not know of the shutdown, and a response costs less than a retry.',
  'A-126':
    'Exactly the probe paths are exempt, not every path that begins like one. A call of the process to itself is recognized by its socket, not by a `User-Agent`, which any client can send.',
  'A-130':
    "A stream ends after a complete event. A handler that uses the request's `AbortSignal` sends its remaining events first.",
  'A-133': 'Upgraded sockets end one after another, as all long-running requests do.',
  'A-135': 'With a grace period of 0, all long-running requests end at once, each with its last chunk.',
  'A-145':
    'At the end of the grace period, lameduck ends the remaining requests. A request whose handler has sent nothing gets a response; the others get their last chunk. A request that is still in flight at the end of the budget is logged, destroyed and counted as cut.',
  'A-150':
    "lameduck changes no timeout of the program's server. Before the first process signal, the server's responses do not change.",
  'A-152': 'A connection that has not sent a request ends after at most one second of silence.',
  'A-156': 'Upgraded connections are counted. The drain ends them one after another, each with a FIN.',
  'A-170': 'A `timeout` in the query that is not a Go duration is a parameter of the program, not an error.',
  'A-174':
    "One limit covers all requests, because lameduck cannot know which requests change data. The body of the answer has lameduck's own text.",
  'A-182':
    'A DELETE is answered with 405 and resets nothing. If it reset the registry, anyone who reaches the path could erase the counts.',
  'A-183':
    'No request metric counts probes and scrapes. They arrive at fixed intervals, and would hide what clients experience.',
  'A-187': "Name, labels and buckets follow OpenTelemetry's conventions for HTTP, which dashboards for Node use.",
  'A-188':
    'Each signal, phase and hook has a metric. Metrics also count the requests that a shutdown has answered, refused and cut, and show its budget and the prediction of an overrun.',
  'A-205':
    'The queue is bounded. The flush ends with the shutdown budget, or after one second in which nothing can be written, so that a full disk does not delay the exit. Events are taken until the shutdown ends.',
  'H-162': 'There is no separate image for debugging. `kubectl debug` attaches the tools to the image that was tested.',
  'H-164':
    "The health check is the package's own `lameduck probe`, and the tests belong to the project, so neither has a file in that folder. Nothing is published from here. docs/image.md has the command to publish an image.",
  'H-165':
    'The bases are build arguments with a tag, so that the image can be built without a registry. The publisher sets a digest, and the base label of the image then contains it. No line sets a syntax image, because that would be one more image to fetch.',
  'H-174':
    'The image is built for the platform of the builder. No registry is used, so there is nothing to sign. docs/image.md has the command to publish an image.',
  'HC-32':
    'Lint is strict, and a real API server validates every object, which finds more than a schema does. The usual scanners are not run, because their rules contradict each other. Two of them require a CPU limit, which delays probes.',
  'HC-34': 'The chart is installed from the repository. It is not published to a registry, so it is not signed.',
  'HC-36': 'The publisher pins the base images, as build arguments (H-165). The rest of the rule is met.',
  'HC-37': 'The image has the labels. Platforms, SBOM, provenance and signature need a registry (H-174).',
  'K-197':
    'If no probe has arrived for a second, the next probe waits up to 200 ms for a busy main thread. A current answer is better than an old one. A probe that follows sooner is answered at once.',
  'K-199':
    'A failing readiness probe gets a 500, as in the apiserver, instead of a 503. The kubelet treats both as a failure.',
  'K-203':
    'Connections get `Connection: close` one by one over the delay, not all at its beginning (A-120). The drain ends upgraded sockets one after another. With `shutdownSendRetryAfter`, the listener closes only after the requests in flight have ended.',
  'K-205':
    'lameduck has no such setting. During the drain, readiness fails, which removes the pod in every case that the kubelet knows. For a probe that must pass, use `/readyz?exclude=shutdown`. A failing answer names the check `shutdown`.',
  'K-206':
    "The margin is two seconds instead of one. When the process signal arrives, the kubelet's clock has already run for a while, and the exit of the process takes time too.",
  'K-207':
    'Open requests are logged, destroyed and counted when the budget, minus the time of the destroy hooks, is over. The budget already ends two seconds before SIGKILL. The exit code is 80.',
  'K-209':
    'lameduck has no endpoint for an HTTP preStop hook. The delay is in the process, after the process signal, and is part of the budget.',
  'K-210':
    'The exit code after a second process signal is 1, as in the apiserver. Codes from 128 on mean that a signal killed the process, but this process has exited on its own.',
  'K-213':
    "lameduck changes no timeout and no limit of the program. Before the first process signal, the server's responses do not change. `keepAliveTimeout` sets the timeout for a proxy, together with `headersTimeout`.",
  'K-214':
    'A process cannot know that it has less time than configured. Pre-shutdown hooks start at the process signal, so a hook that flushes state there has ended before a SIGKILL two seconds later.',
  'P-018':
    'lameduck does not cut the backlog: clients would stay half connected and be reset later. Instead, it holds requests that arrive within about 30 ms before the listener closes, so that waiting clients open no new connection. The listener then closes in a quiet turn of the event loop, right after the last accept.',
  'P-026':
    'The server sends its FIN after the response. If no response carried `Connection: close`, it waits for 1 s or 1 MiB more. It then reads for up to 5 s, because some clients read the response only after they have sent everything.',
  'P-059':
    'lameduck has no option to end by the signal. The process exits with one of its own exit codes, which says more than the number of a signal.',
  'P-097':
    'A destroy hook can be added until the destroy hooks begin, because resources of a request in flight must be closed too.',
  'H-113':
    'The Role has `list` and `watch`, for a hand-over within 2 s. It has no `patch`, which nothing uses. The NetworkPolicy does not open the way to the API server, because the chart does not know its address. Without that address, the chart fails to render.',
  'L-002': 'One error lists all problems with the settings of leader election, as for every other setting.',
  'L-037':
    'lameduck reads the time to retry from the header and from the Status. It does not matter which one is present.',
  'LT-29':
    'The elector renews until the work has settled, and only then does `stop` resolve. The Lease thus never expires while work is running. The hook of the lifecycle has a limit, and fails.',
  'LT-50': 'No option overrides this: a Lease with a strategy belongs to coordinated leader election.',
  'L-041': 'The chart and the log contain the Role. RBAC itself belongs to the cluster.',
  'L-060':
    'The times of a write are the moment at which it is sent, also after a slow GET. The term counts from the same moment.',
  'L-005':
    'lameduck has no option for the release. An elector always releases its Lease, after it has checked that it still holds the Lease. The labels are an option. The metrics and the livez check have the name of the Lease.',
  'L-006':
    "lameduck has options and environment variables for these times, as for all settings. `leaseName` is required, and the default namespace is the pod's own.",
  'L-007': 'lameduck has the defaults of the components of Kubernetes. Each of the three times is a setting.',
  'L-034': 'An elector never writes to a Lease with a strategy.',
  'L-101': '`run` of an elector contends again after a loss. It ends only when the work returns or fails.',
  'L-122': 'lameduck uses undici as its client, with a timeout for each request.',
  'L-127': "lameduck's page on leader election begins with the same statement.",
  'L-140': 'The elector releases its Lease in a pre-shutdown hook, while the servers still serve.',
  'L-144': 'An elector hands leadership over in a pre-shutdown hook, while the process still serves.',
  'L-150': 'lameduck supports only Leases.',
  'L-151': 'lameduck has no `MultiLock`: two processes on different objects would both lead.',
  'L-161': 'lameduck does not implement coordinated leader election.',
  'L-162': 'lameduck does not implement coordinated leader election.',
  'L-171': 'A program may use several electors. lameduck does not spread work over them.',
  'L-172': 'lameduck does not distribute work over members.',
  'L-173':
    'lameduck has no semaphore. The chart names the Lease after the release, so that two releases never share one.',
  'L-126': 'The page on leader election names these conditions. No code can enforce them.',
  'L-132': 'The page on leader election shows a store that checks the token. The store belongs to the program.',
  'L-087': 'An elector stops at its renew deadline, 10 s after its last acknowledged write was sent.',
  'L-131':
    'The token has neither the transitions nor the uid. The resourceVersion alone is greater for each later term, and a text of digits fits into a numeric column.',
  'L-141':
    'The elector does this in a pre-shutdown hook that starts with the shutdown, before the servers stop accepting. The next leader thus does not wait for the drain.',
  'L-142':
    "By default, the process does not exit after a loss. The elector contends again when its work has stopped. With `onLoss: 'shutdown'`, the process shuts down with code 83.",
  'L-174':
    'Electors do not share a client, because a request without a response would delay those of other Leases. A follower with a watch reads nothing while the leader renews.',
  'LT-52': 'Each elector has connections of its own, so that a request without a response cannot delay other electors.',
};
