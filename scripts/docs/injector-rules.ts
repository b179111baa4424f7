// The rules of the injector: facts about MutatingAdmissionPolicy and about injected pods.

export const injectorRules: Readonly<Record<string, string>> = {
  'M-01':
    "The injector's policy uses a JSON patch. An apply configuration cannot remove a field, and merges variables and init containers by its own rules.",
  'M-02':
    '`failurePolicy: Ignore` covers errors of expressions only. If a patch makes the pod invalid, the API server rejects the pod, so every inserted value is checked.',
  'M-03': 'The expressions of the policy stay within the cost limit of the API server, even for very large pods.',
  'M-04': 'The policy changes a pod only once, even with two bindings, several policies and reinvocation.',
  'M-05':
    'The policy keeps the `NODE_OPTIONS` of the pod. A variable reference comes last, because Node reads no option after a reference that is not resolved.',
  'M-06':
    'With `--import`, a program starts in a working directory that its user cannot read. With `--require`, it does not start there.',
  'M-07':
    'An image volume needs no init container. An API server before 1.36 may drop the volume, so the chart rejects image volumes on such an API server.',
  'M-08':
    'The init container has the resources of the container and what pod security `restricted` requires. The pod therefore stays admitted and keeps its quality-of-service class.',
  'M-09': 'The package image appears once in a pod, and a node that already has the image does not pull it.',
  'M-10':
    'The policy keeps a readiness probe of the container. It adds one only if the pod itself has the label, because a program in another language would never become ready.',
  'M-11':
    'The grace period of an injected pod is the longer of two: its own, and the shortest allowed one plus the time of the preStop hook.',
  'M-12': 'The policy does not change a pod that it cannot inject, and writes the reason into an annotation.',
  'M-13':
    'The values of the chart are part of the policy. If a separate parameter object were missing, no pod would be injected, without an error.',
  'M-14': 'Errors of the policy are counted in the metrics of the API server.',
  'M-15':
    'The policy changes only pods, so that a Deployment stays as it was applied. A bare pod that is applied again is rejected.',
  'M-16': 'The same policy also works with the API version `v1beta1`.',
};
