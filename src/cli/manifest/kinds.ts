// Lists the kinds of objects that the commands know: the kinds of Kubernetes itself, and the kinds of add-ons for which
// a lint rule exists. If an object has another kind, the commands report that they do not judge this object.
// prettier-ignore
const kinds: readonly string[] = [
  'Pod', 'Deployment', 'StatefulSet', 'DaemonSet', 'ReplicaSet', 'Job', 'CronJob', 'ReplicationController',
  'Service', 'Endpoints', 'EndpointSlice', 'Ingress', 'IngressClass', 'NetworkPolicy', 'HTTPRoute', 'BackendConfig',
  'GCPBackendPolicy', 'HealthCheckPolicy',
  'PodDisruptionBudget', 'HorizontalPodAutoscaler', 'ScaledObject',
  'ConfigMap', 'Secret', 'ServiceAccount', 'Role', 'RoleBinding', 'ClusterRole', 'ClusterRoleBinding',
  'Namespace', 'Node', 'Event', 'LimitRange', 'ResourceQuota', 'PriorityClass', 'RuntimeClass', 'Lease', 'PodTemplate',
  'PersistentVolume', 'PersistentVolumeClaim', 'StorageClass', 'VolumeAttributesClass', 'CSIDriver', 'CSINode',
  'CSIStorageCapacity', 'VolumeAttachment', 'CustomResourceDefinition', 'APIService', 'ControllerRevision',
  'MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration', 'ValidatingAdmissionPolicy',
  'ValidatingAdmissionPolicyBinding', 'MutatingAdmissionPolicy', 'MutatingAdmissionPolicyBinding',
  'FlowSchema', 'PriorityLevelConfiguration', 'CertificateSigningRequest', 'ClusterTrustBundle', 'ServiceCIDR',
  'IPAddress', 'ResourceClaim', 'ResourceClaimTemplate', 'ResourceSlice', 'DeviceClass',
];

/**
 * coreKinds are the kinds of Kubernetes itself and of the add-ons for which lint has rules. `lint` and `restarts` print
 * a warning about an object of any other kind.
 */
export const coreKinds: ReadonlySet<string> = new Set(kinds);
