// The variables that Kubernetes sets in every pod of a namespace with a Service named `lameduck`. The Service has one
// named port.
export const lameduckServiceLinks = {
  LAMEDUCK_SERVICE_HOST: '10.96.14.7',
  LAMEDUCK_SERVICE_PORT: '80',
  LAMEDUCK_SERVICE_PORT_HTTP: '80',
  LAMEDUCK_PORT: 'tcp://10.96.14.7:80',
  LAMEDUCK_PORT_80_TCP: 'tcp://10.96.14.7:80',
  LAMEDUCK_PORT_80_TCP_PROTO: 'tcp',
  LAMEDUCK_PORT_80_TCP_PORT: '80',
  LAMEDUCK_PORT_80_TCP_ADDR: '10.96.14.7',
  // The variable LAMEDUCK_API_PORT belongs to another Service, named `lameduck-api`.
  LAMEDUCK_API_PORT: 'tcp://10.96.14.8:8080',
} as const;
