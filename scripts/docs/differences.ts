// Maps the number of each rule of the apiserver's shutdown that lameduck deliberately does not follow to the reason.

export const differences: Readonly<Record<string, string>> = {
  'A-007':
    'lameduck ends every long-running request, not only watches, and `InFlightRequestsDrained` fires when all of them have ended. This is so even if the setting `shutdownWatchTerminationGracePeriod` of lameduck is 0.',
  'A-009':
    'The closing of the listening socket may take the rest of the shutdown budget, not only two seconds. A client that reads its 429 late still gets the complete response.',
  'A-013':
    '`HasBeenReady` fires as soon as all checks of `/readyz` pass, even if nothing probes the process. A probe that excludes checks does not fire this signal.',
  'A-020':
    "lameduck's whole shutdown has one time limit, the shutdown budget. The shutdown budget ends before the kubelet's SIGKILL, because a killed process cannot log how it ended.",
  'A-032':
    'A program may call `lameduck()` several times. A process signal drains the servers of all calls before the process exits.',
  'A-041': 'lameduck has no list of disabled hooks. If you do not want a hook, do not register it.',
  'A-042':
    'Without a livez grace period, which is the default, post-start hooks are not checks of `/livez`. Otherwise the kubelet would restart a process that starts slowly again and again.',
  'A-044':
    'If a post-start hook fails, `/readyz` fails, and the failure is logged. The process with lameduck continues, because an exited process could neither answer probes nor report the reason.',
  'A-046':
    'If a post-start hook still runs when the shutdown begins, its `AbortSignal` is aborted. A later error of the hook does not change the exit code.',
  'A-047':
    'A hook calls its own server as any client does. lameduck grants no permissions, and the program knows the address of its server.',
  'A-048':
    'lameduck has no built-in hooks. Each post-start hook, and each check `poststarthook/<name>`, belongs to the program.',
  'A-049':
    'If a post-start hook that waits for a resource gives up with an error, `/readyz` fails, because a process without this resource is not ready. A hook that waits for an optional resource can return without an error.',
  'A-055': 'In lameduck, a hook of any kind without a function is an error.',
  'A-056':
    'lameduck runs pre-shutdown hooks in parallel, each with a time limit. If they ran one after another, their times would add up.',
  'A-058':
    'A failed hook does not make the shutdown throw an error. Each failed hook gets its own log line, and the final log line names all of them.',
  'A-059':
    'If a pre-shutdown hook fails, lameduck still drains the requests in flight, because the failure does not concern them. The exit code of the process shows the failure.',
  'A-060': 'A pre-shutdown hook that throws counts as failed, and the shutdown continues.',
  'A-061':
    'In lameduck, each pre-shutdown hook has a time limit. If a hook reaches its limit, lameduck logs that the hook has timed out, and the shutdown continues.',
  'A-070':
    'Probes ignore a trailing slash and the letter case of an endpoint (P-080), so that a misspelt probe does not restart or remove a healthy pod. There is no index of paths, because the path `/` belongs to the program.',
  'A-076':
    'All servers of one `lameduck()` call share its health endpoints. Every post-start hook has the same livez grace period.',
  'A-078': 'A Node program has no informers. It adds a check of `/readyz` for each resource that it waits for.',
  'A-079':
    'lameduck checks no dependency on its own. A program adds a check of `/readyz` for each dependency. A check of `/livez` for a dependency causes a warning (P-089).',
  'A-080':
    "Probes that arrive while a check runs share the result of this run (P-082). Only the program's own check can know how long a result stays valid.",
  'A-085':
    "In addition to the apiserver's `no-cache, private`, `Cache-Control` has `no-store` (P-086), so that no cache answers a probe.",
  'A-091':
    'In lameduck, a health check with a livez grace period can be excluded by the name of its group, like any other check.',
  'A-095':
    'The path of a single check does not show the reason of a failure, because every client can request it. The reason is in the log.',
  'A-097':
    'During the shutdown, `/readyz/shutdown` sends the same text as any failed check. This text does not name the reason.',
  'A-100':
    "lameduck runs health checks in parallel, each with the limit `healthCheckTimeout`, so that a probe gets its answer before the kubelet's timeout. Concurrent probes share a run, so that many probes cause no load.",
  'A-101': 'lameduck answers probes itself, before any code of the program sees the request.',
  'A-102':
    'Anyone can request all probe paths. The answers do not contain the reasons of failures (A-095). To hide the names of the checks, restrict access in the network.',
  'A-103': 'lameduck answers probes before it applies any limit, because a busy pod must not be restarted.',
  'A-104':
    'lameduck logs the reason when the result of a check changes, not for each probe. Probes arrive every few seconds from several sources.',
  'A-105':
    'If names in `exclude` match no check, only the answer to the probe lists them. The log does not, because any client can send any text.',
  'A-112':
    'lameduck recognizes event streams by their content type, and knows upgraded sockets. Other long-running requests are named by `longRunning(request)`, the config of a route or `longRunningPaths`.',
  'A-120':
    'lameduck gives each connection a random close time in the first three quarters of the shutdown delay. The next response after this time carries `Connection: close`. Clients thus reconnect to other pods one by one while the listener is still open.',
  'A-122':
    'Only connections accepted after `NotAcceptingNewRequest` get a 429. On a kept-alive connection, lameduck serves the request with `Connection: close`, because the client could not know of the shutdown. To serve the request takes less time than a 429 and a retry.',
  'A-126':
    'Only the exact probe paths are exempt from the 429, not every path that begins like one. lameduck recognizes a call of the process to itself by its socket, because any client can send any `User-Agent`.',
  'A-130':
    "lameduck ends an event stream after a complete event. A handler that uses the request's `AbortSignal` can first send its remaining events.",
  'A-133': 'The drain ends upgraded sockets one after another, like all long-running requests.',
  'A-135': 'With a grace period of 0, lameduck ends all long-running requests at once, each with its last chunk.',
  'A-145':
    'When `shutdownWatchTerminationGracePeriod` has passed, lameduck ends the remaining long-running requests. A request whose handler has sent nothing gets a response. Other responses get their last chunk. A request still in flight at the end of the shutdown budget is logged, destroyed and counted as cut.',
  'A-150':
    "lameduck changes no timeout of the program's server. Before the first process signal, the server's responses do not change.",
  'A-152': 'lameduck ends a connection that has not sent a request after at most one second of silence.',
  'A-156': 'lameduck counts upgraded connections. The drain ends them one after another, each with a FIN.',
  'A-170': 'If the query parameter `timeout` is not a Go duration, it belongs to the program and is not an error.',
  'A-174':
    "lameduck has one limit for all requests, because it cannot know which requests change data. The body of the 429 has lameduck's own text.",
  'A-182': 'A DELETE of `/metrics/slis` gets a 405 and resets nothing. Otherwise any client could erase the counts.',
  'A-183':
    "No request metric counts probes and scrapes. They arrive at fixed intervals, and their durations would hide those of the clients' requests.",
  'A-187':
    "The name, labels and buckets of the histogram of request durations follow OpenTelemetry's conventions for HTTP, which dashboards for Node use.",
  'A-188':
    'Each signal, phase and hook of the lifecycle has a metric. Other metrics count the requests that a shutdown has answered, refused and cut. Further metrics show the shutdown budget and a predicted overrun.',
  'A-205':
    'The queue of audit events is bounded, and takes events until the shutdown ends. Its flush ends with the shutdown budget, or after one second without a successful write. A full disk thus does not delay the exit.',
  'H-162': 'There is no separate image for debugging. `kubectl debug` attaches the tools to the image that was tested.',
  'H-164':
    "The health check of the image is the package's own command `lameduck probe`, and the tests are in the project's folder of tests. The folder of the image therefore contains neither. No image is published. docs/image.md has the command to publish one.",
  'H-165':
    'The base images are build arguments with a tag, so that the image can be built without a registry. A publisher sets a digest, and the base label of the image then contains it. No line of the Dockerfile sets a syntax image, because the builder would have to fetch this image too.',
  'H-174':
    'The image is built for the platform of the builder. No registry is used, so there is nothing to sign. docs/image.md has the command to publish an image.',
  'HC-32':
    '`helm lint` is strict, and a real API server validates every object, which finds more than a schema does. The usual scanners are not run, because their rules contradict each other. Two of them require a CPU limit, which delays probes.',
  'HC-34': 'The chart is installed from the repository. It is not published to a registry, so it is not signed.',
  'HC-36': 'The publisher pins the base images, as build arguments (H-165). lameduck meets the rest of the rule.',
  'HC-37': 'The image has the labels. Platforms, SBOM, provenance and signature need a registry (H-174).',
  'K-197':
    'If no probe has arrived for a second, the next probe waits up to 200 ms for a busy main thread, because a current answer is better than an old one. A probe that follows sooner is answered at once.',
  'K-199':
    'A failing readiness probe gets a 500, as in the apiserver, instead of a 503. The kubelet treats both as a failure.',
  'K-203':
    'Connections get `Connection: close` one by one over the delay, not all at its beginning (A-120). The drain ends upgraded sockets one after another. With `shutdownSendRetryAfter`, the listener closes only after the requests in flight have ended.',
  'K-205':
    'No setting makes `/readyz` pass during the drain. Readiness always fails then, because in some cases only a failing probe removes the pod from its Services. For a probe that must pass, use `/readyz?exclude=shutdown`. A failing answer names the check `shutdown`.',
  'K-206':
    "The shutdown budget ends two seconds before the grace period does, not one. When the process signal arrives, the kubelet's clock has already run for a while, and the exit of the process takes time too.",
  'K-207':
    'lameduck reserves the time of the destroy hooks at the end of the shutdown budget. Before this reserved time begins, lameduck logs, destroys and counts open requests. The budget already ends two seconds before SIGKILL. The exit code is 80.',
  'K-209':
    'lameduck has no endpoint for an HTTP preStop hook. The process itself delays its drain after the process signal, and the delay is part of the shutdown budget.',
  'K-210':
    'The exit code after a second process signal is 1, as in the apiserver. Codes from 128 on mean that a signal killed the process, but this process has exited on its own.',
  'K-213':
    "lameduck changes no timeout and no limit of the program. Before the first process signal, the server's responses do not change. `keepAliveTimeout` sets the timeout for a proxy, together with `headersTimeout`.",
  'K-214':
    'A process cannot know that it has less time than configured. Flush state in a pre-shutdown hook: these hooks start at the process signal, so the state is safe if SIGKILL follows two seconds later.',
  'P-018':
    'lameduck holds back the responses to requests that arrive in about the last 30 ms before the listener closes. Their clients then open no new connection in this time. The listener closes after a turn of the event loop in which no connection arrived and no response was sent. When a listener closes, the kernel resets each connection that is still in the backlog.',
  'P-026':
    'The server sends its FIN after the response. If no response carried `Connection: close`, it first reads the body for 1 s or 1 MiB more. After the FIN, it reads for up to 5 s, because some clients read the response only after they have sent everything.',
  'P-059':
    'lameduck has no option to end the process by the process signal. The process exits with one of its own exit codes, which says more than the number of a signal.',
  'P-097':
    'A destroy hook can be added until the destroy hooks begin, because a request in flight may open a resource that must be closed.',
  'H-113':
    'The Role has `list` and `watch`, for a hand-over within 2 s. It has no `patch`, which nothing uses. With a NetworkPolicy, the values must name the address of the API server, which the chart does not know. Without this address, the chart fails to render.',
  'L-002': 'One error lists all invalid settings of leader election, as for every other setting.',
  'L-037':
    'lameduck takes the time after which to retry from the header `Retry-After` or from the Status in the body, whichever is present.',
  'LT-29':
    'The elector renews the Lease until the work has settled, and only then does `stop` resolve. The Lease thus never expires while work is running. The pre-shutdown hook that stops the elector fails at its time limit.',
  'LT-50':
    'No option makes an elector contend for a Lease with a strategy, because such a Lease belongs to coordinated leader election.',
  'L-041': 'The chart creates the Role, and the log shows it. lameduck itself cannot grant permissions in the cluster.',
  'L-060':
    'As the time of an acquisition or renewal, an elector writes the moment at which it sends the write, also after a slow GET. The term of leadership counts from the same moment.',
  'L-005':
    'An elector always releases its Lease, after it has checked that it still holds the Lease. The labels of the Lease are an option. The metrics and the livez check have the name of the Lease.',
  'L-006':
    "lameduck has options and environment variables for the times of leader election, as for all settings. `leaseName` is required, and the default namespace is the pod's own.",
  'L-007':
    'By default, lameduck uses the times of the components of Kubernetes for leader election. Each time is a setting.',
  'L-034': 'An elector of lameduck never writes to a Lease with a strategy.',
  'L-101':
    'After a loss of leadership, `run` of an elector contends for the Lease again. `run` ends only when the work returns or fails.',
  'L-122': 'lameduck uses undici as its client for the API server, with a timeout for each request.',
  'L-127': "lameduck's page on leader election begins with the same statement as client-go's documentation.",
  'L-140': 'The elector releases its Lease in a pre-shutdown hook, while the servers still serve.',
  'L-144': 'An elector hands leadership over in a pre-shutdown hook, while the process still serves.',
  'L-150': 'lameduck stores the leader only in a Lease.',
  'L-151': 'lameduck has no `MultiLock`: two processes that use different objects would both lead.',
  'L-161': 'lameduck does not implement coordinated leader election.',
  'L-162': 'lameduck does not implement coordinated leader election.',
  'L-171': 'A program may use several electors. lameduck does not divide work between them.',
  'L-172': 'lameduck does not distribute the work of a program over several processes.',
  'L-173':
    'lameduck has no semaphore. The chart names the Lease after the release, so that two releases never share one.',
  'L-126': 'The page on leader election names the conditions for safety. No code can enforce them.',
  'L-132': 'The page on leader election shows a store that checks the fencing token. The store belongs to the program.',
  'L-087': 'An elector stops at its renew deadline, 10 s after its last acknowledged write was sent.',
  'L-131':
    'The fencing token contains neither `leaseTransitions` nor the uid of the Lease. Each later term has a greater resourceVersion, so the resourceVersion alone is enough. The token consists of digits, so it fits into a numeric column of a database.',
  'L-141':
    'The elector stops its work in a pre-shutdown hook that starts with the shutdown, before the servers stop accepting connections. The next leader thus does not wait for the drain.',
  'L-142':
    "By default, the process does not exit after a loss of leadership. The elector contends for the Lease again when its work has stopped. With `onLoss: 'shutdown'`, the process shuts down with code 83.",
  'L-174':
    'Each elector of lameduck has its own HTTP client. If electors shared a client, a request without a response would delay the requests for the other Leases. A follower with a watch reads nothing while the leader renews.',
  'LT-52': 'Each elector has connections of its own, so that a request without a response cannot delay other electors.',
};
