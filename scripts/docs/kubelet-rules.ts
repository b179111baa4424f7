// The kubelet's rules about probes and pod termination that `lameduck rehearse` follows. The list `rules` in rules.ts
// contains them too.

export const kubeletRules: Readonly<Record<string, string>> = {
  'K-002':
    'By default, a probe has a timeout of 1 s, a period of 10 s, a success threshold of 1 and a failure threshold of 3. If the minimum of a field is 1, the value 0 means the default.',
  'K-005': 'A probe with a warning counts as a success, and the kubelet creates an event `ProbeWarning`.',
  'K-006':
    'Each time a probe is due, the kubelet makes up to three attempts. It makes another attempt only if the last one could not be made, not if the probe failed.',
  'K-007': 'If the kubelet could not make a probe in three attempts, the last result of the probe stays in effect.',
  'K-008': 'If a probe names a port that the container does not declare, the kubelet can never make the probe.',
  'K-009':
    'The kubelet sends probes to the address of the pod, so a server that listens only on loopback cannot be probed.',
  'K-013':
    'An HTTP probe fails if the connection is refused, if TLS fails, or if no response headers arrive before the timeout.',
  'K-014': 'The timeout of an HTTP probe covers the connection, the request, the headers and the body.',
  'K-018':
    'An HTTP probe follows at most nine redirects to the same host name. A redirect to another host is a success with a warning.',
  'K-020':
    'An HTTP probe sends `Host`, `User-Agent: kube-probe/…` and `Accept: */*`. Headers in the definition of the probe replace these headers. An empty `Accept` removes the header `Accept`.',
  'K-025': 'An HTTPS probe verifies no certificate, sends no SNI for an IP address, and offers HTTP/2.',
  'K-029': 'A TCP probe opens a connection and sends nothing.',
  'K-037': 'If the command of an exec probe cannot be started, the result of the probe is an error and not a failure.',
  'K-038': 'In the arguments of an exec probe, the kubelet replaces `$(NAME)` only if the variable has a static value.',
  'K-039':
    'The kubelet runs one worker for each probe. It creates the workers at the first sync of the pod, before its containers run. It keeps a worker when the container restarts.',
  'K-041': "The kubelet's worker for a probe runs the probe once when the worker is created, and then once per period.",
  'K-043':
    'Two runs of one probe never overlap. If a slow run outlasts several periods, the next run begins at once, and the other missed runs are skipped.',
  'K-044':
    'The kubelet skips a run of a probe if the container does not run or must first be replaced. It also skips the run if the startup probe has not succeeded yet.',
  'K-045': '`initialDelaySeconds` of a probe counts from the start of the container, in whole seconds.',
  'K-046':
    'While a started container is not ready, the kubelet also probes its readiness each time that the kubelet computes the status of the pod.',
  'K-048':
    "Before the first result of a container's probes, the kubelet treats the container as not ready, as alive and as not started.",
  'K-049':
    'The result of a probe takes effect only when it has occurred several times in a row: as often as `failureThreshold` or `successThreshold` requires.',
  'K-050':
    'For each probe, the kubelet counts the equal results in a row. The count continues when the container is replaced.',
  'K-052': 'A container is not ready while it does not run.',
  'K-054': 'Until the startup probe of a container has succeeded, the kubelet makes no other probe of the container.',
  'K-055': 'When the startup probe of a container succeeds, the kubelet makes the readiness probe at once.',
  'K-056':
    'After a liveness probe has failed, or the result of a startup probe has taken effect, the kubelet pauses that probe until a new container replaces the old one. For the new container, the kubelet counts the results from 0 again.',
  'K-059': 'A container without a readiness probe is ready as soon as the kubelet sees that it runs.',
  'K-060':
    'If a liveness or startup probe has failed, the kubelet ends the container. It restarts the container if the restart policy allows it.',
  'K-062':
    "If the kubelet ends a container because a probe failed, it does not delete the pod. The pod's endpoint stays ready until the readiness probe fails or the container has ended.",
  'K-071':
    "The deletion of a pod uses the grace period in the delete request, or the pod's own grace period if the request has none. A negative grace period counts as one second.",
  'K-076':
    'An endpoint has the condition `serving` while the pod is ready, and `terminating` once the pod is deleted. It is `ready` only if it is serving and not terminating.',
  'K-077':
    'When a pod is deleted, its Service treats it as not ready at once, even if its readiness probe still succeeds.',
  'K-080':
    'When a pod ends, the liveness and startup probes of a sidecar continue until every container of the pod has stopped.',
  'K-082':
    'To end a container, the kubelet runs the preStop hook and then sends the stop signal. At the end of the grace period, it sends SIGKILL.',
  'K-083':
    'The grace period of a pod includes the preStop hook and the wait for other containers, each rounded down to whole seconds. The process has the rest.',
  'K-079': 'When the kubelet begins to end a pod, it first publishes the status of the pod, which may still be ready.',
  'K-084': 'Between the stop signal and SIGKILL there are at least two seconds.',
  'K-087':
    'When a pod is deleted, a container that has already exited gets neither its preStop hook nor a signal from the kubelet.',
  'K-090': 'The kubelet sends the stop signal when the preStop hook has ended.',
  'K-091':
    'The kubelet abandons a preStop hook that lasts longer than the grace period. If a preStop hook fails, the kubelet still sends the stop signal.',
  'K-092': 'For a lifecycle hook over HTTP, every response is a success, including 5xx.',
  'K-099': 'Only the main process of a container gets the stop signal.',
  'K-104':
    'When a pod ends, its sidecars get their stop signal after the regular containers have ended, one by one in reverse start order.',
  'K-105': 'When a pod is deleted, the preStop hook of a sidecar starts at once.',
  'K-106': 'If the regular containers use the whole grace period, each sidecar has two seconds after its stop signal.',
  'K-108': 'If a signal ended a container, its exit code is 128 plus the number of the signal.',
  'K-125':
    "A probe's own grace period applies only when a failure of this probe ends the container. It may be longer than the grace period of the pod.",
  'K-126':
    'The kubelet sends the stop signal at about the time at which each kube-proxy receives the change of the endpoint. The order of the two is not defined.',
  'K-127':
    'After the deletion of a pod, some tenths of a second to many seconds pass until a node learns that the endpoint was removed.',
  'K-128':
    'kube-proxy sends connections to ready endpoints. If a Service has no ready endpoint, kube-proxy sends them to endpoints that are serving and terminating.',
  'K-129':
    'If the last endpoint of a Service terminates and its readiness probe fails, this endpoint gets no more connections.',
  'K-131': 'Each kube-proxy applies changes of endpoints on its own, at most once per second.',
  'K-132': 'Connections to a Service without a usable endpoint are refused.',
  'K-142':
    'Before a restart of a container, the kubelet waits 0, 10, 20, 40, 80, 160 and then always 300 s. The wait begins at the exit of the previous instance.',
  'K-143':
    "The kubelet's wait before a restart starts again at 0 only after the container has run for more than 600 s.",
  'K-146':
    'A setting of the kubelet can limit the wait before a container restarts. If this limit is below the default first wait of 10 s, the first wait is as long as the limit.',
  'K-148':
    'If the kubelet itself ended a container, the wait before the restart counts from the exit of the instance before it. At the first restart there was no such instance, so the container restarts at once.',
  'K-149': 'The restart policy and the exit code decide whether a container is started again.',
  'K-150':
    'If a container is restarted in the same pod, it keeps the volumes of the pod and gets a new file system of its own.',
  'K-151':
    "The kubelet keeps a hash of each container's definition. It restarts a container whose hash has changed, whatever its restart policy.",
  'K-153':
    'Since Kubernetes 1.31, the hash of a container covers its name and its image. In older versions, it covers all its fields.',
  'K-154':
    'The upgrade of a kubelet from 1.30 to 1.31 restarts every container on its node once, unless the node is drained.',
  'K-155':
    'The API server accepts few changes to a running pod. Of these changes, only a new image restarts a container. A change of a ConfigMap or Secret restarts no container.',
  'K-156':
    'A Deployment starts a rollout if, and only if, its pod template differs from that of every ReplicaSet. The label `pod-template-hash` does not count.',
  'K-157':
    "Any change inside the pod template replaces all pods. A change of the replicas, the strategy or the Deployment's own labels replaces none.",
  'K-158':
    '`kubectl rollout restart` sets an annotation in the pod template. If another tool removes this annotation, all pods are replaced again.',
  'K-159': 'If a label of the pods contains the version of the chart, every new version replaces all pods.',
  'K-160':
    'If a checksum annotation of a pod covers random values, times or chart labels, the annotation changes with every rendering of the chart. Each change replaces all pods.',
  'K-161':
    'If a ConfigMap changes, but the pod template has no changed checksum annotation or name, the running pods do not get the new configuration.',
  'K-163': 'The kubelet runs one sync of a pod at a time. A later sync waits until the current sync has ended.',
  'K-167':
    'If a pod is deleted while the kubelet starts or restarts its containers, the kubelet first completes this start, including postStart hooks. Only then does the grace period begin.',
  'K-168':
    'If a pod is deleted while the kubelet ends a container for a failed probe, the kubelet first restarts this container. The kubelet then ends the container again, for the deletion.',
  'K-169':
    'Once per second, the kubelet compares the containers that should run with the containers that the container runtime reports.',
  'K-174':
    'During a node shutdown, a pod gets the shorter of two grace periods: its own, and that of the node shutdown.',
  'K-175':
    "A hard eviction gives a pod one second. A soft eviction gives it the eviction's limit or the pod's own grace period, whichever is shorter.",
  'K-176': "During an eviction or a node shutdown, the pod's endpoint stays ready until every container has stopped.",
  'K-185': 'Kubernetes sets the variable `KUBERNETES_SERVICE_HOST` in every pod.',
  'K-216':
    "`lameduck rehearse` sends each probe on a new connection, with the kubelet's headers, attempts, redirects and limit of the body.",
  'K-217':
    "`lameduck rehearse` runs an independent loop for each probe from the start of the pod, with the kubelet's thresholds and pauses.",
  'K-218':
    '`lameduck rehearse` simulates readiness separately from the conditions of the endpoint. Each simulated node sends new connections as before until it has applied a change of these conditions.',
  'K-219':
    '`lameduck rehearse` ends a container as the kubelet does, within one grace period in whole seconds. It then kills the processes that are left.',
  'K-220':
    '`lameduck rehearse` runs the command as PID 1. Without a PID namespace, it reports if the stop signal kills the process, which would not happen to PID 1.',
  'K-221':
    '`lameduck rehearse` has scenarios for a deletion, an eviction, a node shutdown, a failed liveness probe, a crash loop, a second signal and sidecars.',
  'K-222':
    "`lameduck rehearse` reports exit codes and the reasons `Completed` and `Error`, with the kubelet's messages and the end of the output.",
  'K-223':
    '`lameduck rehearse` reports mistakes in the probes, the preStop hooks and the command of a pod, even if a cluster accepts them without a warning.',
  'K-224': 'If `lameduck rehearse` shortens the waits before restarts, it keeps their order and their ratio.',
};
