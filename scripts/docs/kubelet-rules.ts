// The kubelet's rules that `lameduck rehearse` follows. They are part of the list in rules.ts.

export const kubeletRules: Readonly<Record<string, string>> = {
  'K-002':
    'By default, a probe has a timeout of 1 s, a period of 10 s, a success threshold of 1 and a failure threshold of 3. If the minimum of a field is 1, the value 0 means the default.',
  'K-005': 'A probe with a warning counts as a success and causes an event `ProbeWarning`.',
  'K-006':
    'A probe run makes up to three attempts. It repeats an attempt only if the kubelet could not make it, not if the probe failed.',
  'K-007': "If the third attempt of a probe run also ends in an error, the probe's result does not change.",
  'K-008': 'A probe whose port name the container does not declare always ends in an error.',
  'K-009': 'Probes are sent to the address of the pod, so a server that listens only on loopback cannot be probed.',
  'K-013': 'A refused connection, a TLS error or a timeout before the response headers is a failed probe.',
  'K-014': 'The timeout of a probe covers the connection, the request, the headers and the body.',
  'K-018':
    'A probe follows redirects to the same host name, nine at most. A redirect to another host is a success with a warning.',
  'K-020':
    'An HTTP probe sends `Host`, `User-Agent: kube-probe/…` and `Accept: */*`. Headers of the probe replace these, and an empty `Accept` removes it.',
  'K-025': 'An HTTPS probe verifies no certificate, sends no SNI for an IP address, and offers HTTP/2.',
  'K-029': 'A TCP probe opens a connection and sends nothing.',
  'K-037': 'An exec probe whose command cannot be started ends in an error.',
  'K-038': 'In the arguments of an exec probe, the kubelet replaces `$(NAME)` only if the variable has a static value.',
  'K-039':
    'The kubelet creates the probe workers at the first sync of the pod, before its containers run. It keeps a worker when the container restarts.',
  'K-041': 'A probe worker probes at once and then once per period, counted from its creation.',
  'K-043':
    'The runs of a worker never overlap. If a slow run outlasts several periods, the next run begins at once and the other missed runs are skipped.',
  'K-044':
    'A worker skips its run if the container does not run, if the worker waits for a new container, or if the startup probe has not succeeded yet.',
  'K-045': '`initialDelaySeconds` counts from the start of the container, in whole seconds.',
  'K-046':
    'While a started container is not ready, the kubelet probes its readiness whenever it computes the status of the pod.',
  'K-048': 'Before the first result of its probes, a container counts as not ready, as alive and as not started.',
  'K-049': 'A result takes effect when it has occurred as often in a row as its threshold requires.',
  'K-050': 'Each worker counts the equal results in a row. The count continues when the container is replaced.',
  'K-052': 'A container is not ready while it does not run.',
  'K-054': 'Until the startup probe has succeeded, the kubelet makes no other probe of the container.',
  'K-055': 'When the startup probe succeeds, the kubelet makes the readiness probe at once.',
  'K-056':
    'After a liveness failure, or when a startup result takes effect, the worker waits for a new container and counts from 0.',
  'K-059': 'A container without a readiness probe is ready as soon as the kubelet sees that it runs.',
  'K-060':
    'If a liveness or startup probe has failed, the kubelet ends the container, and restarts it if its policy allows.',
  'K-062':
    "If the kubelet ends a container because a probe failed, it does not delete the pod. The pod's endpoint stays ready until readiness fails or the container has ended.",
  'K-071':
    'A deletion uses the grace period of the request, or else the grace period of the pod. A negative grace period counts as one second.',
  'K-076':
    'An endpoint is serving while the pod is ready, terminating once the pod is deleted, and ready only if it is serving and not terminating.',
  'K-077':
    'When a pod is deleted, its Service treats it as not ready at once, even if its readiness probe still succeeds.',
  'K-080': 'The liveness and startup probes of a sidecar continue until every container has stopped.',
  'K-082':
    'To end a container, the kubelet runs the preStop hook and then sends the stop signal. At the end of the grace period, it sends SIGKILL.',
  'K-083':
    'The grace period includes the preStop hook and the wait for other containers, each rounded down to whole seconds. The process has the rest of the grace period.',
  'K-084': 'Between the stop signal and SIGKILL there are at least two seconds.',
  'K-087': 'A container that has already exited gets neither preStop nor a signal.',
  'K-090': 'The stop signal is sent when the preStop hook has ended.',
  'K-091':
    'The kubelet abandons a preStop hook that lasts longer than the grace period. If a preStop hook fails, the kubelet still sends the stop signal.',
  'K-092': 'For a lifecycle hook over HTTP, every response is a success, including 5xx.',
  'K-099': 'Only the main process of a container gets the stop signal.',
  'K-104': 'Sidecars get their stop signal after the regular containers have ended, one by one in reverse start order.',
  'K-105': 'The preStop hook of a sidecar starts at once.',
  'K-106': 'If the regular containers use the whole grace period, each sidecar has two seconds after its stop signal.',
  'K-108': 'If a signal ended a container, its exit code is 128 plus the number of the signal.',
  'K-125':
    'The grace period of a probe applies only when that probe ends the container. It may be longer than the grace period of the pod.',
  'K-126':
    'The kubelet sends the stop signal while each kube-proxy receives the change of the endpoint. The order of the two is not defined.',
  'K-127': 'A node receives the deletion of an endpoint some tenths of a second to many seconds later.',
  'K-128':
    'kube-proxy sends connections to ready endpoints. If no endpoint is ready, it sends them to endpoints that are serving and terminating.',
  'K-129': 'When the last endpoint of a Service terminates and its readiness probe fails, it gets no more connections.',
  'K-131': 'Each kube-proxy applies changes on its own, at most once per second.',
  'K-132': 'Connections to a Service without a usable endpoint are refused.',
  'K-142':
    'The kubelet waits 0, 10, 20, 40, 80, 160 and then always 300 s before a restart. The wait begins at the exit of the last instance.',
  'K-143': 'The back-off starts again at 0 only after the container has run for more than 600 s.',
  'K-146': 'Settings of the kubelet can limit the back-off. The limit also applies to the first delay.',
  'K-148':
    'If the kubelet itself ended the container, the back-off counts from the previous instance. The first restart is therefore immediate.',
  'K-149': 'The restart policy and the exit code decide whether a container is started again.',
  'K-150': 'A container that is restarted in place keeps the volumes of its pod and gets a new file system of its own.',
  'K-151':
    'The kubelet keeps a hash of each container and restarts a container whose hash has changed, whatever its restart policy.',
  'K-153':
    'Since Kubernetes 1.31, the hash of a container covers its name and its image. In older versions, it covers all its fields.',
  'K-154': 'The upgrade of a kubelet from 1.30 to 1.31 restarts every container once, unless the node is drained.',
  'K-155':
    'In a running pod, only a changed image restarts a container. The other changes that a running pod accepts do not. A changed ConfigMap or Secret restarts nothing.',
  'K-156':
    'A rollout starts if and only if the pod template differs from that of every ReplicaSet, apart from the label `pod-template-hash`.',
  'K-157':
    'Any change inside the pod template replaces all pods. Replicas, the strategy and the labels of the object itself replace none.',
  'K-158':
    '`kubectl rollout restart` sets an annotation in the pod template. A tool that removes the annotation replaces the pods again.',
  'K-159': 'If a label of the pods contains the version of the chart, every new version replaces all pods.',
  'K-160':
    'A checksum over random values, times or labels of the chart changes with every rendering, which replaces all pods.',
  'K-161':
    'If a ConfigMap changes, but no checksum annotation and no name, the running pods do not get the new configuration.',
  'K-168':
    'If a pod is deleted while the kubelet ends a container because of a probe, the deletion waits until the container has ended.',
  'K-169': 'Once per second, the kubelet compares the containers that it expects with those of the container runtime.',
  'K-174':
    'During a node shutdown, a pod has the shorter one of its own grace period and the grace period of the node shutdown.',
  'K-175':
    "A hard eviction gives a pod one second. A soft eviction gives it the shorter one of the eviction's limit and the pod's grace period.",
  'K-176': 'During an eviction or a node shutdown, the endpoint stays ready until every container has stopped.',
  'K-185': 'In a pod, the variable `KUBERNETES_SERVICE_HOST` is set.',
  'K-216':
    "A rehearsal sends each probe on a new connection, with the kubelet's headers, attempts, redirects and limit of the body.",
  'K-217':
    'A rehearsal runs an independent loop for each probe from the start of the pod, with the thresholds and pauses of the kubelet.',
  'K-218':
    'A rehearsal keeps readiness apart from the conditions of the endpoint, and goes on opening connections until each node has applied a change.',
  'K-219':
    'A rehearsal ends a container as the kubelet does, within one budget in whole seconds, and then kills what is left of it.',
  'K-220':
    'A rehearsal runs the command as PID 1. Without a PID namespace, it reports a process that dies of the stop signal.',
  'K-221':
    'A rehearsal has scenarios for a deletion, an eviction, a node shutdown, a failed liveness probe, a crash loop, a second signal and sidecars.',
  'K-222':
    'A rehearsal reports exit codes and the reasons `Completed` and `Error`, with the messages of the kubelet and the end of the output.',
  'K-223':
    'A rehearsal reports mistakes in probes, in preStop and in the command that a cluster accepts without a warning.',
  'K-224': 'A rehearsal that scales its back-off keeps the order and the ratio of the delays.',
};
