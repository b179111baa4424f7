// Lists the kinds of objects that the commands know: the kinds of Kubernetes itself, and the kinds of add-ons for which
// a lint rule exists. If an object has another kind, the commands report that they do not judge this object.

// For each API group, the kinds that the commands know. The group of an apiVersion without a slash is empty.
// prettier-ignore
const kindsByGroup: Readonly<Record<string, readonly string[]>> = {
  '': [
    'Pod', 'ReplicationController', 'PodTemplate', 'Service', 'Endpoints', 'ConfigMap', 'Secret', 'ServiceAccount',
    'Namespace', 'Node', 'Event', 'LimitRange', 'ResourceQuota', 'PersistentVolume', 'PersistentVolumeClaim',
  ],
  apps: ['Deployment', 'StatefulSet', 'DaemonSet', 'ReplicaSet', 'ControllerRevision'],
  batch: ['Job', 'CronJob'],
  // The API group `extensions` contained these kinds in old versions of Kubernetes.
  extensions: [
    'Deployment', 'DaemonSet', 'ReplicaSet', 'Job', 'Ingress', 'NetworkPolicy', 'HorizontalPodAutoscaler',
  ],
  autoscaling: ['HorizontalPodAutoscaler'],
  policy: ['PodDisruptionBudget'],
  'networking.k8s.io': ['Ingress', 'IngressClass', 'NetworkPolicy', 'ServiceCIDR', 'IPAddress'],
  'discovery.k8s.io': ['EndpointSlice'],
  'gateway.networking.k8s.io': ['HTTPRoute'],
  'cloud.google.com': ['BackendConfig'],
  'networking.gke.io': ['GCPBackendPolicy', 'HealthCheckPolicy'],
  'keda.sh': ['ScaledObject'],
  'keda.k8s.io': ['ScaledObject'],
  'rbac.authorization.k8s.io': ['Role', 'RoleBinding', 'ClusterRole', 'ClusterRoleBinding'],
  'events.k8s.io': ['Event'],
  'scheduling.k8s.io': ['PriorityClass'],
  'node.k8s.io': ['RuntimeClass'],
  'coordination.k8s.io': ['Lease'],
  'storage.k8s.io': [
    'StorageClass', 'VolumeAttributesClass', 'CSIDriver', 'CSINode', 'CSIStorageCapacity', 'VolumeAttachment',
  ],
  'apiextensions.k8s.io': ['CustomResourceDefinition'],
  'apiregistration.k8s.io': ['APIService'],
  'admissionregistration.k8s.io': [
    'MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration', 'ValidatingAdmissionPolicy',
    'ValidatingAdmissionPolicyBinding', 'MutatingAdmissionPolicy', 'MutatingAdmissionPolicyBinding',
  ],
  'flowcontrol.apiserver.k8s.io': ['FlowSchema', 'PriorityLevelConfiguration'],
  'certificates.k8s.io': ['CertificateSigningRequest', 'ClusterTrustBundle'],
  'resource.k8s.io': ['ResourceClaim', 'ResourceClaimTemplate', 'ResourceSlice', 'DeviceClass'],
};

/**
 * coreKinds are the kinds of Kubernetes itself and of the add-ons for which lint has rules. `lint` and `restarts` print
 * a warning about an object of any other kind.
 */
export const coreKinds: ReadonlySet<string> = new Set(Object.values(kindsByGroup).flat());

/** isListKind tells whether a kind is a list of objects of Kubernetes, such as `List` or `PodList`. */
export function isListKind(kind: string): boolean {
  return kind === 'List' || (kind.endsWith('List') && coreKinds.has(kind.slice(0, -'List'.length)));
}

/**
 * kindIn returns the kind of an object. If another API group than that of Kubernetes defines a kind with the same name,
 * kindIn appends this group: the Service of Knative is `Service.serving.knative.dev`.
 */
export function kindIn(apiVersion: string, kind: string): string {
  const [group = '', version] = apiVersion.split('/');
  // An apiVersion without a slash belongs to Kubernetes itself, even if it is wrong for the kind.
  if (version === undefined || !coreKinds.has(kind)) return kind;
  const known = Object.hasOwn(kindsByGroup, group) ? kindsByGroup[group] : undefined;
  return known?.includes(kind) === true ? kind : `${kind}.${group}`;
}
