// The Role that an elector needs (L-041). It is logged when the API server denies a request.

/** roleText is the Role as YAML. `create` cannot be narrowed by name, since the name is in the body. */
export function roleText({ name, namespace }: { readonly name: string; readonly namespace: string }): string {
  return `apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: ${name}
  namespace: ${namespace}
rules:
  - apiGroups: [coordination.k8s.io]
    resources: [leases]
    verbs: [create]
  - apiGroups: [coordination.k8s.io]
    resources: [leases]
    resourceNames: [${name}]
    verbs: [get, update, list, watch]
  - apiGroups: ['']
    resources: [events]
    verbs: [create, patch]
`;
}
