// Where lameduck does on purpose something else than the rule of that number says, and why.

export const differences: Readonly<Record<string, string>> = {
  'A-007':
    'Every long-running request is waited for, not only watches, and also when their grace period is 0: they are told to end first.',
  'A-009':
    'The stop of the listener has no two seconds of its own: it has what is left of the shutdown budget, so that a client that is late to read its 429 is not cut.',
  'A-013':
    '`HasBeenReady` is signaled when the readyz checks first pass, probed or not, and a probe that leaves checks out does not signal it: a process that nobody probes has to know that it was ready.',
  'A-020':
    'One deadline, the shutdown budget, stands over the whole sequence and ends ahead of SIGKILL: what the process says about its own end is lost when the kubelet ends it.',
  'A-032':
    'Each `lameduck()` adds its servers to the one end of the process: a program may have several lifecycles, and a process signal drains all of them before it exits.',
  'A-041': 'There is no such list: a hook that is not wanted is not registered.',
  'A-042':
    'Without a livez grace period, which is the default, post-start hooks are no checks of `/livez`: a start that takes longer than the liveness probe is patient would be restarted again and again.',
  'A-044':
    'A post-start hook that fails keeps `/readyz` red and is logged; it does not end the process, which could not serve its probes or say why.',
  'A-046':
    'A post-start hook that is still running at the shutdown is told by its `AbortSignal`, and what it then throws changes nothing about the end.',
  'A-047':
    'A hook calls its own server as any client does: there are no rights to be given, and the address is the program’s.',
  'A-048': 'None is built in: each post-start hook, and each check `poststarthook/<name>`, is the program’s own.',
  'A-049':
    'A post-start hook that gives up has failed and keeps `/readyz` red: ready without its storage would be untrue. One that may go without it returns.',
  'A-055': 'A hook without a function is refused, of whatever kind it is.',
  'A-056':
    'Pre-shutdown hooks run beside each other, each with a limit: one after another their times would add up against the budget.',
  'A-058':
    'Nothing is thrown at the end: each failure is a line of the log and an entry of the final line, by its name.',
  'A-059':
    'A failed pre-shutdown hook is recorded, the drain goes on, and the exit code says it: the requests in flight are not to blame for the hook.',
  'A-060': 'A hook that throws is a hook that failed, with the same consequences.',
  'A-061': 'A hook has a limit; at its end it is recorded as timed out and the sequence goes on.',
  'A-070':
    'A trailing slash and the letter case of an endpoint do not matter (P-080): a probe that is 404 for one letter restarts or removes a pod that is well. There is no index: `/` belongs to the program.',
  'A-076': 'All servers of a lifecycle share its endpoints, and every hook has the same grace.',
  'A-078': 'There are no informers; a program adds a readyz check for what it waits for.',
  'A-079':
    'No dependency is a check by itself; a program adds a readyz check for each, and one on `/livez` is warned about (P-089).',
  'A-080':
    'Probes that come while a check runs share its run (P-082); how long a result may be kept beyond that, only the program’s own check can know.',
  'A-085':
    '`Cache-Control` has `no-store` beside the apiserver’s `no-cache, private` (P-086), so that no cache in between ever answers for us.',
  'A-091': 'It can, since the grace is kept beside the check and not wrapped around it.',
  'A-095':
    'The path of a single check withholds the reason as the whole report does: it is as public as the endpoint above it, and the log has the reason.',
  'A-097': 'The answer is the same line as for any failed check, without the reason.',
  'A-100':
    'Checks run beside each other, each with a limit, `healthCheckTimeout`, and probes that come while a check runs share its run: a probe has its answer before the kubelet gives up, and a crowd of probers is no load on what is checked.',
  'A-101': 'lameduck answers probes itself, ahead of everything that the program does with requests.',
  'A-102':
    'All paths are open and withhold the reasons (see A-095); whoever may not see the names of checks has to be kept from them by the network.',
  'A-103':
    'Probes are answered by lameduck itself, ahead of every limit: a pod must not be restarted because it is busy.',
  'A-104':
    'The log has a line, with the reason, when the result of a check changes: probes come every few seconds from several sides.',
  'A-105': 'They stand in the answer alone: what a prober can send as it likes is not written to the log.',
  'A-112':
    'There are no verbs here. An event stream is recognized by its content type and an upgraded socket by itself; everything else that is long-running is named by `longRunning(request)` or by the route’s config.',
  'A-120':
    'Each connection draws one moment in the first three quarters of the delay, and its next response after that says `Connection: close`: clients leave one by one while the listener is still open, and nobody meets the closed door.',
  'A-122':
    'Only connections accepted after `NotAcceptingNewRequest` are answered 429. What arrives on a kept connection is served and told to close: the client could not know, and serving it costs less than a retry.',
  'A-126':
    'The probe paths are exempt exactly, not by their first letters. A call of the process to itself is known by its socket, not by a `User-Agent`, which every client can claim.',
  'A-130':
    'A stream is ended after a whole event, and a handler that has asked for the request’s `AbortSignal` sends what it still has to send.',
  'A-133': 'Upgraded sockets are told in their turn like everything else.',
  'A-135': 'A grace period of 0 tells all long-running requests at once, and each ends with its last chunk.',
  'A-145':
    'At the end of their grace period, those that are left are ended by lameduck: with the last chunk, or with an answer where the handler had sent nothing. What cannot be ended so is named in the log at the end of the budget, destroyed and counted as cut.',
  'A-150': 'No timeout of the program’s server is changed: before the first process signal nothing it answers differs.',
  'A-152': 'A connection that has not sent a request ends with the linger, after at most one second.',
  'A-156': 'They are counted, and each gets a FIN in its turn.',
  'A-170': 'A `timeout` in the query that is no Go duration is the program’s own parameter, and not an error.',
  'A-174':
    'There is one limit for all requests, since what a request changes cannot be told from outside; the body is in our own words.',
  'A-182': 'DELETE is answered 405 and resets nothing: whoever can reach the path could take away what was counted.',
  'A-183': 'Probes and scrapes are no requests in any metric: they come by the clock, and would hide what clients see.',
  'A-187':
    'Name, labels and buckets are those of OpenTelemetry’s conventions for HTTP, which dashboards for Node know.',
  'A-188':
    'Each signal, phase and hook has its metric, and so have the requests that a shutdown answered, refused and cut, its budget, and the expectation whether it will do.',
  'H-162':
    'There is no target for debugging: `kubectl debug` brings the tools along, and the image stays the one that was tested.',
  'H-164':
    'The health check is the package’s own `lameduck probe`, and the tests are those of the project, so that neither has a file of its own. How an image is published is a command line in docs/image.md, since nothing is published from here.',
  'H-165':
    'The bases are build arguments with a tag, so that the image can be built where no registry is reached; whoever publishes gives a digest, and the label of the base then has it. No line names a syntax: it would be one more image to bring, and nothing here needs it.',
  'H-174':
    'The image is built for the machine that builds it, and published nowhere: there is no registry, and so nothing to sign. docs/image.md has the command.',
  'HC-32':
    'Lint is strict, and every object is asked of a real API server, which knows more than a schema does. The usual scanners are not run: what they ask for contradicts each other, and the limit of CPU that two of them want makes probes late.',
  'HC-34':
    'The chart is installed from the repository: there is no registry to which it is published, and so nothing to sign.',
  'HC-36': 'The bases are pinned by whoever publishes, as build arguments (H-165); the rest is so.',
  'HC-37': 'The labels are there; platforms, the list of parts, provenance and signature come with a registry (H-174).',
  'K-197':
    'Behind a pause of a second or more the first probe waits up to 200 ms for a main thread that is busy, since its answer is worth more than an old one; who asks again sooner is answered at once.',
  'K-199': 'A failing answer is 500, as the apiserver’s: to the kubelet it is the same.',
  'K-203':
    'Connections are told to close one by one over the delay and not all at its beginning (A-120); an upgraded socket is ended in its turn; the listener is closed before what is in flight has ended only without `shutdownSendRetryAfter`.',
  'K-205':
    'There is no setting for it: readiness fails, which takes traffic away in every case that the kubelet knows. A probe that has to hold asks `/readyz?exclude=shutdown`, and the answer without that names the check `shutdown`.',
  'K-206':
    'Two seconds are kept back and not one: the kubelet’s clock has run for a while when the process signal arrives, and the end of the process takes time as well.',
  'K-207':
    'What is still open is logged, destroyed and counted at the end of the budget itself, which is two seconds ahead of SIGKILL already, less the time that the destroy hooks need behind it; the exit code is 80.',
  'K-209':
    'No such endpoint is offered: the delay is in the process, behind the process signal, where it counts against the budget.',
  'K-210':
    'The exit code is 1, as the apiserver’s: codes from 128 on say which process signal killed a process, and this one has ended itself.',
  'K-213':
    'No timeout and no bound of the program is changed: before the first process signal nothing that it answers differs. `keepAliveTimeout` sets it for the proxy in front, and `headersTimeout` with it.',
  'K-214':
    'A process that is given less than it was told of cannot know: pre-shutdown hooks begin in the moment of the process signal, so that what flushes state there is done before a SIGKILL two seconds later.',
  'P-018':
    'The backlog is not cut, which leaves clients half connected and resets them later. Instead requests that arrive while the listener closes are held for some 30 ms, so that no client that waits for an answer makes a new connection, and the listener closes in a quiet turn of the event loop, right behind the last accept.',
  'P-026':
    'Our FIN goes out behind the answer, or after 1 s or 1 MiB more where nothing said close; reading goes on for up to 5 s behind that, because some clients look for their answer only when they have sent everything.',
  'P-059':
    'There is no option for it: the process ends with an exit code of its own table, which says more than the number of a process signal.',
  'P-097':
    'A destroy hook can be added until the destroy hooks begin: what a request in flight opens has to be closed, too.',
  'H-113':
    'The Role has `list` and `watch`, for a hand-over within 2 s, and no `patch`, which nothing uses. The way to the API server is not opened in the NetworkPolicy, since the chart does not know its address: without one, the chart is refused.',
  'L-002': 'All problems are in one error, as for every other setting.',
  'L-037': 'Both are read; which one is given does not matter.',
  'LT-29':
    'The elector renews until the work settles, and `stop` resolves then: the Lease never expires while work goes on. The hook of the lifecycle has a limit, and fails.',
  'LT-50': 'There is no override: a Lease with a strategy belongs to coordinated leader election.',
  'L-041': 'The chart and the log have the Role; RBAC itself is the cluster’s.',
  'L-060':
    'The times of a write are the moment at which it is sent, also after a slow GET. The term counts from the same moment.',
  'L-005': 'There is no switch for the release: it always happens, with the ownership checked.',
  'L-006': 'They are options and variables, as all settings.',
  'L-007': 'The defaults are those of the components; each of the three is a setting.',
  'L-034': 'A Lease with a strategy is not written at all.',
  'L-040': 'A FlowSchema is a decision of the cluster’s administrator.',
  'L-101': '`run` contends again after a loss; only work that returns or fails ends it.',
  'L-122': 'The client is undici, with a timeout for each request.',
  'L-127': 'The page on leader election says the same before anything else.',
  'L-140': 'The elector releases in a pre-shutdown hook, while the servers still serve.',
  'L-144': 'The hand-over is a pre-shutdown hook for the same reason.',
  'L-150': 'There are only Leases.',
  'L-151': 'There is no MultiLock: two processes on different objects both lead.',
  'L-161': 'Coordinated leader election is not implemented.',
  'L-162': 'Coordinated leader election is not implemented.',
  'L-171': 'A program may use several electors; there is no spreading of its own.',
  'L-172': 'There is no sharding.',
  'L-173': 'There is no semaphore.',
  'L-126': 'The page on leader election names these conditions: no code can remove them.',
  'L-132': 'The page on leader election shows such a check; the store is the program’s own.',
  'L-087': 'An elector stops at its renew deadline, 10 s after its last acknowledged write was sent.',
};
