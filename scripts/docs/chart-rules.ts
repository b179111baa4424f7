// The rules of the chart and of the image. A rule with an H number covers one property. A rule with an HC number is an
// acceptance criterion for the whole chart or image. The rules are part of the list in rules.ts.

/** The rules of the chart and of the image. The key is the number of the rule. */
export const chartRules: Readonly<Record<string, string>> = {
  'H-013':
    'The name of an object of the chart is truncated before its suffix is added. The result fits in 63 characters and begins with a letter, whatever the name of the release is.',
  'H-014':
    'Every object of the chart has labels for its release, its chart and its application. Helm and kubectl find it by these labels.',
  'H-015':
    'The selector of the Deployment has only labels that never change, because a selector cannot be changed without downtime.',
  'H-016': 'No label of the pods contains a version. Otherwise a new version of the chart would replace all pods.',
  'H-017': 'No selector matches the pod of `helm test`. Otherwise this pod would get traffic.',
  'H-018': 'Labels from the values never override the labels of the selector, and no label is present twice.',
  'H-019': 'No object sets its own namespace. The namespace of the Helm release applies.',
  'H-024':
    'Helm reads numbers from files as floats and prints large ones with an exponent. The chart therefore converts each number to an integer.',
  'H-025': 'A value of zero or `false` takes effect. The default does not replace it.',
  'H-027':
    'A chart value that is set to null counts as not set. The schema of the chart therefore does not require a value that may be null.',
  'H-029':
    'The schema of the chart rejects unknown values, except inside values that the chart copies into Kubernetes objects.',
  'H-030': 'The schema of the chart checks each single value: its type, its range and its choices.',
  'H-033': '`values.yaml` and the schema have the same values, defaults and descriptions.',
  'H-034': 'Helm can skip the schema of the values. The templates therefore also reject values that lose requests.',
  'H-040':
    "If a container waits before its process signal, its preStop hook is the kubelet's own `sleep`, which needs no program in the image.",
  'H-043':
    "The chart computes the pod's grace period: the sum of the shutdown delay, the requests and the hooks, plus a reserve of at least 5 s.",
  'H-045':
    'A pod has only one delay before its drain. The chart uses the shutdown delay of the process instead of a preStop sleep, because both would add up.',
  'H-047':
    'The shutdown delay is at least as long as the load balancer or proxy takes to stop sending new connections.',
  'H-048': 'If a load balancer probes the readiness of pods itself, it notices a failure within the shutdown delay.',
  'H-049':
    'If a load balancer or proxy follows the readiness of the pod, the shutdown delay lasts until the readiness probe has failed.',
  'H-050': 'The drain lasts long enough for the longest request that is allowed.',
  'H-051': 'A load balancer gives requests at least as much time to finish as the drain of the pod does.',
  'H-052': 'The server keeps idle connections longer than the load balancer or proxy does.',
  'H-053': 'The chart rejects a grace period that is longer than the cluster autoscaler waits for a pod.',
  'H-056': 'The chart has a separate delay, drain time and keep-alive timeout for each kind of load balancer or proxy.',
  'H-058':
    '`helm lint` does not show which values the templates reject. They are reported only when Helm renders the chart.',
  'H-059':
    'One error message lists every rejected chart value, each with its path, its value, the rule and the remedy.',
  'H-061': 'The grace period of a pod is never shorter than the sum of its parts, and no part is negative.',
  'H-062': 'A preStop hook never uses the whole grace period.',
  'H-063': 'The pod has a shutdown delay, unless the user explicitly disables it.',
  'H-064': 'A rollout removes no pod before its replacement is ready, unless the user explicitly allows downtime.',
  'H-065': 'The chart rejects a rollout that may neither add nor remove a pod.',
  'H-066': 'The Deployment has at least two pods, unless the user explicitly allows a single one.',
  'H-067': 'A PodDisruptionBudget sets either `minAvailable` or `maxUnavailable`, and allows at least one eviction.',
  'H-068': 'The minimum and maximum number of pods for autoscaling are consistent and above zero.',
  'H-069': 'If a pod starts as slowly as its startup probe allows, the rollout is not reported as failed.',
  'H-070': 'The liveness and readiness probes have different paths, because a pod that is not ready must not restart.',
  'H-071':
    'The liveness probe tolerates the longest block of the event loop that the values allow. The timeout of a probe is never longer than its period.',
  'H-072': 'The kubelet notices within the shutdown delay that a container is not ready.',
  'H-073': 'The Service removes terminating pods. The kubelet can reach the address to which it sends probes.',
  'H-074':
    'The server never closes a connection that the load balancer or proxy still uses. The load balancer or proxy never cuts a request that the server still processes.',
  'H-075': 'No environment variable, volume, mount or container of the pod is defined twice.',
  'H-076': 'Two ports of a pod never have the same number.',
  'H-077': 'The chart rejects an image that has neither a digest nor a tag that stays the same.',
  'H-079': 'The chart rejects a route without a backend, or without a Gateway that accepts it.',
  'H-080': 'The chart rejects a preStop `sleep` on a Kubernetes version that does not support it.',
  'H-081':
    'If a risky value does not lose requests on its own, the chart accepts it and prints a warning in its notes.',
  'H-082':
    'The kubelet probes liveness and readiness on the port that answers these probes. Liveness depends on no other service.',
  'H-084': 'The chart sets every field of every probe.',
  'H-090': "Each probe refers to a port of the container by the port's name.",
  'H-091':
    'After a failed liveness probe, the process gets less time to exit than a drain takes, because a process that hangs cannot drain.',
  'H-093': 'A rollout adds one pod at a time, and removes no pod before a new one is ready.',
  'H-094':
    'The chart rejects a percentage of unavailable pods. With four or more replicas, a rollout would remove pods before their replacements are ready.',
  'H-099': 'A PodDisruptionBudget exists by default, and always allows the eviction of pods that are not ready.',
  'H-100':
    'If a check of the chart depends on the number of pods, it uses the smallest possible number, also with autoscaling.',
  'H-101': 'If an autoscaler is enabled, the Deployment does not set the number of replicas.',
  'H-102': 'The chart can leave the number of replicas unset, so that an autoscaler can take over.',
  'H-103': 'When the HorizontalPodAutoscaler scales down, it removes one pod per grace period.',
  'H-106': 'The pods of one revision are spread over zones and nodes.',
  'H-108':
    'The pods have the security contexts that pod security `restricted` requires, and each field of these contexts can be set on its own.',
  'H-109':
    'By default, all pods meet pod security `restricted`, also the pod of `helm test`. For OpenShift, fields of the security contexts can be removed.',
  'H-110': 'If a pod must not run as root, the user in its image must be a number.',
  'H-113':
    'With leader election, the chart creates a Role in one namespace. The Role allows `create` on leases without a name, and the other verbs only on the one Lease.',
  'H-078':
    'The chart rejects leader election without its own ServiceAccount or without its token, because every request would get a 403.',
  'H-112': 'A pod has no ServiceAccount token that it does not need.',
  'H-115': 'The pods have `enableServiceLinks: false`, so they get no environment variables for Services.',
  'H-116': 'If a container fails, the last lines of its log stay in the status of the pod.',
  'H-118': 'Each setting of lameduck is one value of the chart and one environment variable.',
  'H-119': 'The environment variables of the container have a stable order, and their values are quoted.',
  'H-121': 'The process gets every part of the grace period through its environment variables, and from nowhere else.',
  'H-122': 'The chart values can set every field of a pod that the chart does not compute.',
  'H-123': 'If the chart is rendered twice with the same values, the results are byte-identical.',
  'H-124':
    'Neither other objects of the chart, such as an Ingress, nor a new version of the chart changes the pod template.',
  'H-127': 'If an image has a digest, the digest alone selects the image, and the tag is only informative.',
  'H-133': "The Service refers to the program's port by name, and does not expose the probe port.",
  'H-135': 'The chart configures load balancers of AWS with the path of the readiness probe and the drain time.',
  'H-136': 'The chart configures load balancers of Google with the path of the readiness probe and the drain time.',
  'H-138': 'An HTTPRoute sends its requests to the Service.',
  'H-139': "An Ingress sends requests to the Service, for the paths and hosts in the chart's values.",
  'H-140': 'The sidecar of a mesh, and any other proxy in the pod, exits after the server.',
  'H-141': 'A NetworkPolicy covers incoming and outgoing connections, and allows DNS and probes.',
  'H-142': 'Prometheus scrapes the pods through a PodMonitor or a ServiceMonitor, also while they terminate.',
  'H-143':
    'Prometheus scrapes a pod during its drain. The notes of the chart warn if the drain is shorter than the interval.',
  'H-145': 'Each alert has a summary, a description and a configurable severity, and is tested.',
  'H-146':
    'The chart has alerts on overruns of the shutdown budget, cut requests, kills, restarts, readiness, rollouts, disruption budgets and missing metrics.',
  'H-147':
    'The chart contains the Grafana dashboard as a file, and sets only its uid, its title and the selected release.',
  'H-148':
    'The notes that Helm prints show how the grace period is computed, the timeline of a shutdown, and how long a rollout takes.',
  'H-150':
    'The repository contains the objects that the chart renders by default, so that a review shows each change of them.',
  'H-151': '`helm lint --strict` finds nothing in the chart.',
  'H-152': 'Every object is validated against the schemas of Kubernetes and of the custom resources.',
  'H-156': "The README's table of chart values is generated from the schema, and a test checks it.",
  'H-157': 'Objects can be applied by server-side and by client-side apply.',
  'H-158': 'The objects have no lists with duplicate merge keys, which server-side apply would reject.',
  'H-161':
    'Most of a Node image is Node itself, so the base image is chosen by its other content. The whole image has a size limit.',
  'H-162':
    'The image runs on a base without a shell, npm or headers, as an unprivileged user, and can still be debugged.',
  'H-163': "The base image has the same C library as Node's own builds, and no npm.",
  'H-164':
    'One folder has all files of the image: its Dockerfile, the list of files sent to the builder, and a Compose file. Compose gives the container the grace period of a pod.',
  'H-165': 'The image is built in stages, from base images whose reference always selects the same content.',
  'H-166':
    'The image has the runtime dependencies of the lock file, without development dependencies and install scripts. No layer contains the npm cache.',
  'H-167': 'The build gets credentials for a registry as a secret, and no layer contains them.',
  'H-168':
    'In the image, root owns the code, and no user can write it. The image names its user by a numeric ID. The entrypoint is node itself, in exec form.',
  'H-169':
    'PID 1 does not receive a signal for which it has no listener. The process installs its listener first, so that a pod that is deleted during its start ends at once.',
  'H-170': 'A program that starts no other processes needs no init process, and runs as PID 1 itself.',
  'H-171': 'The image sets its stop signal to SIGTERM.',
  'H-172':
    'For platforms without probes, the image has a health check that probes readiness, without a shell and without a second service.',
  'H-173': 'Labels of the image contain its name, version, license, build time and base image.',
  'H-174': 'A published image exists for each platform, with provenance, an SBOM and a signature.',
  'H-175': 'Two builds of the same sources produce the same layers, even at different times.',
  'H-176':
    'The running image is tested: its user, signal, entrypoint, missing tools and size, SIGTERM under load, a read-only root file system and no capabilities.',
  'HC-01':
    'All times are set in one block of chart values. The chart computes each time that the user does not set from the other times in this block.',
  'HC-02':
    'The chart computes the grace period of the pods. It rejects a value that is set by hand and too short, and prints the sum.',
  'HC-03': 'One error message lists all rejected chart values, each with path, value, rule and remedy.',
  'HC-04': 'A test renders the chart with each kind of value that the chart rejects.',
  'HC-05': 'A rollout removes no pod before its replacement is ready, unless the user explicitly allows it.',
  'HC-06':
    'If the container has a preStop hook, the hook is a sleep of the kubelet. The shutdown delay of the process is preferred.',
  'HC-07':
    'For each kind of load balancer, the chart has a shutdown delay and annotations that it computes from the parts of the grace period.',
  'HC-08':
    'The keep-alive timeout of the server can be set. The chart checks it against the timeout of the load balancer or proxy.',
  'HC-09': 'Liveness and readiness are two separate probes, and the chart sets every field of both.',
  'HC-10': 'The liveness probe has a grace period of its own.',
  'HC-11': 'A PodDisruptionBudget exists by default.',
  'HC-12': 'The chart can leave the number of replicas unset, so that an autoscaler sets it.',
  'HC-13': 'When the HorizontalPodAutoscaler scales down, it waits for one grace period between two pods.',
  'HC-14': 'The scheduler spreads the pods of each revision over nodes and zones.',
  'HC-15': 'No label of the pods contains a version, so a new version of the chart restarts no pod.',
  'HC-16': 'Enabling another object of the chart, such as an Ingress, restarts no pod.',
  'HC-17': 'Two renders of the chart are byte-identical. A render depends on no clock, no random value and no cluster.',
  'HC-18': 'The objects can be applied by server-side and by client-side apply.',
  'HC-19':
    'Fields of objects that Kubernetes does not allow to change, such as selectors, have the same value in every version of the chart.',
  'HC-20': 'The schema of the chart values is strict, describes each value and needs no other file.',
  'HC-21': 'A number has the same effect, whether it is passed to Helm in a file or with `--set`.',
  'HC-22': 'Every pod meets pod security `restricted`.',
  'HC-23': 'The pods get no ServiceAccount token unless the user enables it.',
  'HC-24': 'The pods have `enableServiceLinks: false`, so they get no environment variables for Services.',
  'HC-25': 'Each setting is one chart value and one environment variable, and one table lists all settings.',
  'HC-26': 'No selector matches the pods of `helm test`.',
  'HC-27': 'The pods of `helm test` run the image of the service, and print their log if they fail.',
  'HC-28': 'HTTPRoute is supported in addition to Ingress.',
  'HC-29': 'A NetworkPolicy covers incoming and outgoing connections.',
  'HC-30': 'The alerts of the chart have unit tests, and the chart has a dashboard.',
  'HC-31': 'The notes of Helm show the grace period as a sum, and the warnings of the chart.',
  'HC-32': 'The chart is linted, validated against schemas and scanned, for Helm 3 and Helm 4.',
  'HC-33':
    'On a real cluster, no client loses a request in a rollout, rollback, deletion, drain or scale-down, on kept-alive and on new connections.',
  'HC-34': 'The chart is published and signed, with the metadata that a chart catalogue shows.',
  'HC-35': 'The image has no shell, a numeric user, an entrypoint in exec form, a stop signal, and code owned by root.',
  'HC-36':
    'Base images are pinned, dependencies come only from the lock file, and a file lists what is sent to the builder.',
  'HC-37': 'The image exists for each platform, with labels, an SBOM, provenance and a signature.',
  'HC-38': 'Two builds of the image are identical, and its compressed size has a limit.',
  'HC-39': 'A test sends SIGTERM to the container, under load and while it boots.',
  'HC-40': 'Docker Compose gives the container as much time to stop as the grace period of the chart.',
};
