import { refusal, refused } from './refusal.ts';

const port = { name: 'debug', containerPort: 9_229 };

refused('fields that the chart sets, and fields of a Service', [
  refusal(
    'H-061 the chart rejects a grace period at the top of the values, because it computes the grace period',
    { terminationGracePeriodSeconds: 60 },
    /^terminationGracePeriodSeconds \(60\): the chart computes it: preStopSeconds 0s .* = 48s; leave it out, and set lameduck\.longestRequestDuration$/,
  ),
  refusal(
    'H-061 the chart rejects a grace period in extraPodSpec, and names the value that sets it',
    { extraPodSpec: { terminationGracePeriodSeconds: 60 } },
    /^extraPodSpec\.terminationGracePeriodSeconds \(60\): the chart sets this field; set lameduck\.longestRequestDuration instead$/,
  ),
  refusal(
    'H-075 the chart rejects a field in extraContainerSpec that the chart itself sets without a value',
    { extraContainerSpec: { name: 'app' } },
    /^extraContainerSpec\.name \(app\): the chart sets this field; leave it out$/,
  ),
  refusal(
    'the chart rejects a nodePort for a Service of type ClusterIP',
    { service: { nodePort: 30_080 } },
    /^service\.nodePort \(30080\): a Service of type ClusterIP has no port on the nodes; leave it out, or set service\.type$/,
  ),
  refusal(
    'the chart rejects a nodePort for an extra port that is not in the Service',
    { service: { type: 'NodePort' }, extraPorts: [{ ...port, nodePort: 30_229 }] },
    /^extraPorts \(\{"name":"debug","nodePort":30229\}\): a nodePort needs a servicePort, and a service\.type other than ClusterIP; /,
  ),
  refusal(
    'the chart rejects a headless Service of type LoadBalancer',
    { service: { type: 'LoadBalancer', clusterIP: 'None' } },
    /^service\.clusterIP \(None\): a Service of type LoadBalancer needs an address; /,
  ),
  refusal(
    'the chart rejects a loadBalancerClass for a Service of type ClusterIP',
    { service: { loadBalancerClass: 'example.com/internal' } },
    /^service\.loadBalancerClass \(example\.com\/internal\): a Service of type ClusterIP has no load balancer; /,
  ),
  refusal(
    'the chart rejects a sessionAffinityConfig without sessionAffinity',
    { service: { sessionAffinityConfig: { clientIP: { timeoutSeconds: 60 } } } },
    /^service\.sessionAffinityConfig \(.*\): has no effect without service\.sessionAffinity ClientIP; set service\.sessionAffinity to ClientIP, or leave this value out$/,
  ),
  refusal(
    'H-076 the chart rejects two ports of the Service with one number',
    { extraPorts: [{ ...port, servicePort: 80 }] },
    /^service\.port, extraPorts \(80\): the Service would have this port twice; remove one, or change it$/,
  ),
  refusal(
    'H-079 the chart rejects a GRPCRoute to a port that the Service does not have',
    { lameduck: { front: 'envoy' }, grpcRoute: { enabled: true, parentRefs: [{ name: 'public' }], port: 9_090 } },
    /^grpcRoute\.port \(9090\): is no port of the Service, so the route would lead nowhere; /,
  ),
  refusal(
    'H-075 the chart rejects injection if NODE_OPTIONS in env comes from another object',
    { inject: { enabled: true }, env: { NODE_OPTIONS: { valueFrom: { configMapKeyRef: { name: 'a', key: 'b' } } } } },
    /^env\.NODE_OPTIONS \(.*\): injection appends an option to this variable, so it must be a text; write it as a text$/,
  ),
  refusal(
    'H-076 the chart rejects two UDP ports with the same number',
    {
      extraPorts: [
        { ...port, protocol: 'UDP' },
        { ...port, name: 'other', protocol: 'UDP' },
      ],
    },
    /^extraPorts, initContainers, extraContainers \(9229\/UDP\): two containers of the pod would listen on this port/,
  ),
]);
