// The rules of the injector: facts about MutatingAdmissionPolicy and about injected pods.

/** Each number of the injector, with its rule. */
export const injectorRules: Readonly<Record<string, string>> = {
  'M-01':
    'The policy is a JSON patch. An apply configuration cannot remove a field, and merges variables and init containers by rules of its own.',
  'M-02':
    '`failurePolicy: Ignore` covers errors of expressions only. If a patch makes the pod invalid, the API server rejects the pod, so every inserted value is checked.',
  'M-03': 'The expressions stay within the cost limit of the API server for very large pods.',
  'M-04': 'A pod is changed once, also with two bindings, several policies and reinvocation.',
  'M-05':
    '`NODE_OPTIONS` of the pod stays. A reference comes last, since Node reads no option after a reference that is not resolved.',
  'M-06':
    'With `--import`, a program starts in a working directory that its user cannot read. With `--require` it does not.',
  'M-07':
    'An image volume needs no init container. An API server before 1.36 may drop the volume, so the chart does not render it there.',
  'M-08':
    'The init container has the resources of the container, and what pod security `restricted` demands, so that the pod stays admitted and keeps its quality of service.',
  'M-09': 'The image is named once, and a node that has it does not pull it.',
  'M-10':
    'A readiness probe of the container stays. One is added only if the pod itself has the label, since a program in another language would never become ready.',
  'M-11': 'The grace period is the longer of the pod’s own and the shortest allowed with the time of the preStop hook.',
  'M-12': 'A pod that cannot be injected is left as it is, with the reason in an annotation.',
  'M-13': 'The values are part of the policy. A parameter that is missing would silently mean no injection.',
  'M-14': 'Errors of the policy are counted in the metrics of the API server.',
  'M-15': 'Only pods are changed, so that a workload does not drift. A bare pod that is applied again is rejected.',
  'M-16': 'The same policy works as `v1beta1`.',
};
