// The rules of the injector: facts about MutatingAdmissionPolicy and about injected pods.

export const injectorRules: Readonly<Record<string, string>> = {
  'M-01':
    "The injector's admission policy uses a JSON patch. An apply configuration cannot remove a field, and merges variables and init containers by its own rules.",
  'M-02':
    'With `failurePolicy: Ignore`, the API server ignores errors in the expressions of the admission policy. But it rejects a pod that the patch of the policy has made invalid. The policy therefore checks every value before it inserts the value.',
  'M-03':
    "The expressions of the injector's admission policy stay within the cost limit of the API server, even for very large pods.",
  'M-04':
    "The injector's admission policy changes a pod only once, even if there are two bindings and several policies, and the API server calls the policies again (`reinvocationPolicy`).",
  'M-05':
    "The injector's policy keeps the pod's own `NODE_OPTIONS`. If they contain a reference `$(NAME)`, the policy inserts its option before them, because Node reads no option after an unresolved reference.",
  'M-06':
    'If the user of a container cannot read its working directory, Node starts with `--import`, but not with `--require`.',
  'M-07':
    'An image volume needs no init container. An API server before 1.36 may drop the volume, so the chart rejects image volumes on such an API server.',
  'M-08':
    'The injected init container has the resources of the app container and the security context that pod security `restricted` requires. The pod therefore stays admitted and keeps its quality-of-service class.',
  'M-09': 'An injected pod names the image of the package once. A node that already has the image does not pull it.',
  'M-10':
    "The injector's policy keeps a readiness probe of the container. The policy adds a readiness probe only if the pod itself, not only its namespace, has the label. With this probe, a program in another language would never become ready.",
  'M-11':
    "An injected pod has its own grace period, or the chart's minimum plus the time of the preStop hook, whichever is longer.",
  'M-12':
    "If the injector's policy cannot inject a pod, it does not change the pod, and writes the reason into an annotation.",
  'M-13':
    'The values of the injector chart are part of its admission policy. If they were in a separate object and this object were missing, no pod would be injected, and no error would be reported.',
  'M-14': "The metrics of the API server count the errors of the injector's admission policy.",
  'M-15':
    "The injector's policy changes only pods, so that a Deployment stays as it was applied. A bare pod that is applied again is rejected.",
  'M-16': "The injector's admission policy also works with the API version `v1beta1`.",
};
