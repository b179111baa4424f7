// The kinds of Kubernetes itself, and those of the add-ons that the rules know. Other kinds are named as not judged.
const kinds: readonly string[] = [
  ...['Pod', 'Deployment', 'StatefulSet', 'DaemonSet', 'ReplicaSet', 'Job', 'CronJob', 'ReplicationController'],
  ...['Service', 'Endpoints', 'EndpointSlice', 'Ingress', 'IngressClass', 'NetworkPolicy', 'HTTPRoute'],
  ...['PodDisruptionBudget', 'HorizontalPodAutoscaler', 'ScaledObject'],
  ...['ConfigMap', 'Secret', 'ServiceAccount', 'Role', 'RoleBinding', 'ClusterRole', 'ClusterRoleBinding'],
  ...[
    'Namespace',
    'Node',
    'Event',
    'LimitRange',
    'ResourceQuota',
    'PriorityClass',
    'RuntimeClass',
    'Lease',
    'PodTemplate',
  ],
  ...['PersistentVolume', 'PersistentVolumeClaim', 'StorageClass', 'VolumeAttributesClass', 'CSIDriver', 'CSINode'],
  ...['CSIStorageCapacity', 'VolumeAttachment', 'CustomResourceDefinition', 'APIService', 'ControllerRevision'],
  ...['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration', 'ValidatingAdmissionPolicy'],
  ...['ValidatingAdmissionPolicyBinding', 'MutatingAdmissionPolicy', 'MutatingAdmissionPolicyBinding'],
  ...['FlowSchema', 'PriorityLevelConfiguration', 'CertificateSigningRequest', 'ClusterTrustBundle', 'ServiceCIDR'],
  ...['IPAddress', 'ResourceClaim', 'ResourceClaimTemplate', 'ResourceSlice', 'DeviceClass'],
];

/** coreKinds are the kinds whose objects are judged, or are known to need no judgement. */
export const coreKinds: ReadonlySet<string> = new Set(kinds);
