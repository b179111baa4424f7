// The kubelet's rules that `lameduck rehearse` follows. They are part of the list in rules.ts.

/** Each number, with its rule. */
export const kubeletRules: Readonly<Record<string, string>> = {
  'K-002':
    'By default, a probe has a timeout of 1 s, a period of 10 s, a success threshold of 1 and a failure threshold of 3. A 0 where the minimum is 1 means the default.',
  'K-005': 'A probe with a warning counts as a success and causes an event `ProbeWarning`.',
  'K-006': 'A probe run makes up to three attempts, and repeats only attempts that ended in an error, not failed ones.',
  'K-007': 'A probe run that still ends in an error changes nothing.',
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
  'K-038': 'In the arguments of an exec probe only references to variables with a static value are replaced.',
  'K-039': 'Probe workers exist from the first sync of the pod, before its containers run, and survive their restarts.',
  'K-041': 'A probe worker probes at once and then once per period, counted from its creation.',
  'K-043': 'The runs of a worker never overlap. If a slow run has missed several ticks, one of them is made up for.',
  'K-044': 'A worker skips its run while the container does not run, is on hold, or is not started yet.',
  'K-045': '`initialDelaySeconds` counts from the start of the container, in whole seconds.',
  'K-046':
    'While a started container is not ready, the kubelet probes its readiness whenever it computes the status of the pod.',
  'K-048': 'Before its first result a container is not ready, alive and not started.',
  'K-049': 'A result is published once it came as often in a row as its threshold says.',
  'K-050': 'The streak of results belongs to the worker: it continues when the container is replaced.',
  'K-052': 'A container that does not run is not ready.',
  'K-054': 'Until the startup probe has succeeded, no other probe of the container is made.',
  'K-055': 'When the startup probe succeeds, readiness is probed at once.',
  'K-056':
    'After a liveness failure, or any published startup result, the worker waits for a new container and counts from 0.',
  'K-059': 'A container without a readiness probe is ready as soon as it is seen running.',
  'K-062':
    'If a failed probe ends a container, the pod is not deleted. Its endpoint stays ready until readiness fails or the container has ended.',
  'K-071':
    'A deletion uses the requested grace period, else that of the pod. A negative grace period counts as one second.',
  'K-076':
    'An endpoint is serving while the pod is ready, terminating once the pod is deleted, and ready only if it is serving and not terminating.',
  'K-077': 'A deleted pod stops being ready for its Service at once, whatever its readiness probe finds.',
  'K-080': 'The liveness and startup probes of a sidecar continue until every container has stopped.',
  'K-082':
    'To end a container, the kubelet runs its preStop hook, then sends the stop signal, and sends SIGKILL at the end of the grace period.',
  'K-083':
    'The grace period covers preStop and the wait for other containers, each rounded down to whole seconds. The process has the rest.',
  'K-084': 'Between the stop signal and SIGKILL there are at least two seconds.',
  'K-087': 'A container that has already exited gets neither preStop nor a signal.',
  'K-090': 'The stop signal is sent when the preStop hook has ended.',
  'K-091': 'A preStop hook that lasts longer than the grace period is abandoned, and one that fails changes nothing.',
  'K-092': 'For a lifecycle hook over HTTP any response is a success, 5xx included.',
  'K-099': 'Only the main process of a container gets the stop signal.',
  'K-104': 'Sidecars get their stop signal after the regular containers have ended, one by one in reverse start order.',
  'K-105': 'The preStop hook of a sidecar starts at once.',
  'K-108': 'A container that a signal ended has 128 plus the number of the signal as its exit code.',
  'K-125': 'The grace period of a probe applies to kills by that probe alone, and may be longer than that of the pod.',
  'K-126':
    'The stop signal and the endpoint change for each kube-proxy are sent independently. Their order is not defined.',
  'K-127': 'Nodes learn of a deleted endpoint between tenths of a second and many seconds later.',
  'K-128':
    'kube-proxy sends connections to ready endpoints, and if there are none to endpoints that are serving and terminating.',
  'K-129': 'The last endpoint gets no more connections once it terminates and its readiness probe fails.',
  'K-131': 'Each kube-proxy applies changes on its own, at most once per second.',
  'K-132': 'Connections to a Service without a usable endpoint are refused.',
  'K-142': 'Restarts wait 0, 10, 20, 40, 80, 160 and then 300 s, counted from the exit of the last instance.',
  'K-143': 'The back-off starts again at 0 only after the container has run for more than 600 s.',
  'K-146': 'Settings of the kubelet can cap the back-off, and the cap bounds its first delay too.',
  'K-148':
    'After a kill by the kubelet, the back-off counts from the previous instance, so that the first such restart is immediate.',
  'K-149': 'The restart policy decides by the exit code whether a container is started again.',
  'K-150': 'A container that is restarted in place keeps the volumes of its pod and gets a new file system of its own.',
  'K-151':
    'The kubelet keeps a hash of each container and restarts a container whose hash has changed, whatever its restart policy.',
  'K-153': 'Since 1.31 the hash of a container covers its name and its image. Before that it covered all its fields.',
  'K-154': 'The upgrade of a kubelet from 1.30 to 1.31 restarts every container once, unless the node is drained.',
  'K-155':
    'Only another image restarts a container of a running pod; the other changes that it accepts do not. A changed ConfigMap or Secret restarts nothing.',
  'K-156':
    'A rollout starts if and only if the pod template differs from that of every ReplicaSet, apart from the label `pod-template-hash`.',
  'K-157':
    'Any change inside the pod template replaces all pods. Replicas, the strategy and the labels of the object itself replace none.',
  'K-158': '`kubectl rollout restart` sets an annotation of the pods. A tool that removes it replaces the pods again.',
  'K-159': 'A label of the pods with the version of the chart replaces all pods with every version.',
  'K-160': 'A checksum over random values, times or labels of the chart replaces all pods with every rendering.',
  'K-161': 'A changed configuration without a checksum or a new name does not reach the running pods.',
  'K-168': 'A deletion during a kill by a probe waits until that kill is finished.',
  'K-169': 'The kubelet compares its containers with the runtime’s once per second.',
  'K-174': 'In a node shutdown a pod has the smaller of the two grace periods.',
  'K-175':
    'A hard eviction leaves one second, and a soft eviction the smaller of its limit and the grace period of the pod.',
  'K-176': 'In an eviction or a node shutdown the endpoint stays ready until every container has stopped.',
  'K-185': 'In a pod `KUBERNETES_SERVICE_HOST` is set.',
  'K-223': 'Mistakes that a cluster accepts without a warning are reported: in probes, in preStop, in the command.',
};
