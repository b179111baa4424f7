// The object kinds of Kubernetes itself, and those of add-ons for which lint has rules. Objects of any other kind are
// reported as not judged.
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

/** coreKinds are the kinds that need no warning: lint either has rules for them, or knows that they need none. */
export const coreKinds: ReadonlySet<string> = new Set(kinds);
