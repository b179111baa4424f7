// Which folders and files of src/ may import which others. Before you add an import, make sure that the import is
// needed.

// Each key is a folder of src, or a file directly in src. Its value lists the folders and files that it may import.
// Files of one folder may import each other.
export const permitted: Readonly<Record<string, readonly string[]>> = {
  'address.ts': [],
  'bundled.ts': [],
  'clock.ts': ['node-timers.ts'],
  'deadline.ts': ['clock.ts'],
  'drained-transport.ts': [],
  'errors.ts': [],
  'exit-codes.ts': [],
  'standard-output.ts': [],
  'step.ts': ['clock.ts', 'deadline.ts'],
  'thenable.ts': [],
  lifecycle: [],
  'message.ts': [],
  settings: ['errors.ts'],
  'arguments.ts': ['errors.ts', 'settings'],
  'observer.ts': ['lifecycle', 'message.ts'],
  'inspection.ts': ['lifecycle', 'observer.ts'],
  'package-version.ts': ['errors.ts'],
  'node-internals.ts': [],
  'node-timers.ts': [],
  'patch-emit.ts': [],
  'version.ts': [],
  hooks: ['clock.ts', 'errors.ts', 'arguments.ts', 'observer.ts', 'settings'],
  health: [
    'clock.ts',
    'errors.ts',
    'lifecycle',
    'message.ts',
    'observer.ts',
    'arguments.ts',
    'settings',
    'thenable.ts',
  ],
  http: [
    'address.ts',
    'clock.ts',
    'deadline.ts',
    'errors.ts',
    'node-internals.ts',
    'observer.ts',
    'patch-emit.ts',
    'settings',
    'message.ts',
  ],
  process: [
    'clock.ts',
    'drained-transport.ts',
    'errors.ts',
    'exit-codes.ts',
    'lifecycle',
    'node-internals.ts',
    'node-timers.ts',
    'observer.ts',
    'settings',
    'standard-output.ts',
    'version.ts',
  ],
  observers: [
    'bundled.ts',
    'clock.ts',
    'errors.ts',
    'inspection.ts',
    'lifecycle',
    'message.ts',
    'observer.ts',
    'settings',
    'standard-output.ts',
    'thenable.ts',
    'version.ts',
  ],
  'recorder.ts': [
    'address.ts',
    'clock.ts',
    'deadline.ts',
    'errors.ts',
    'exit-codes.ts',
    'hooks',
    'http',
    'lifecycle',
    'observer.ts',
  ],
  'startup.ts': ['address.ts', 'clock.ts', 'health', 'hooks', 'http', 'lifecycle'],
  'shutdown.ts': [
    'clock.ts',
    'deadline.ts',
    'drained-transport.ts',
    'exit-codes.ts',
    'hooks',
    'http',
    'lifecycle',
    'node-internals.ts',
    'observer.ts',
    'recorder.ts',
    'settings',
    'step.ts',
  ],
  // manage.ts connects a lifecycle to the process and to the log. Every entry point of the package uses it.
  'manage.ts': [
    'clock.ts',
    'group.ts',
    'http',
    'observer.ts',
    'observers',
    'parts.ts',
    'probe-thread.ts',
    'probe-worker',
    'process',
    'arguments.ts',
    'settings',
  ],
  // group.ts shuts the lifecycles of a node:cluster primary and of its workers down together.
  'group.ts': ['clock.ts', 'exit-codes.ts', 'health', 'observer.ts', 'observers', 'parts.ts', 'process', 'settings'],
  'probe-thread.ts': [
    'clock.ts',
    'errors.ts',
    'observer.ts',
    'observers',
    'parts.ts',
    'probe-worker',
    'process',
    'settings',
  ],
  // The commands in cli send requests to a server, and do not run inside it. They import `health` because they parse
  // the health report.
  cli: ['address.ts', 'clock.ts', 'health', 'inspection.ts', 'process', 'settings', 'standard-output.ts'],
  // The folder probe-worker has the probe thread, and the code of the main thread that communicates with it.
  'probe-worker': [
    'address.ts',
    'clock.ts',
    'errors.ts',
    'health',
    'http',
    'observer.ts',
    'observers',
    'process',
    'settings',
    'exit-codes.ts',
    'inspection.ts',
    'message.ts',
    'standard-output.ts',
  ],
  'handle.ts': [
    'errors.ts',
    'health',
    'hooks',
    'http',
    'lifecycle',
    'observer.ts',
    'arguments.ts',
    'settings',
    'shutdown.ts',
    'startup.ts',
  ],
  // parts.ts creates the objects of one lifecycle, such as its hooks and its health endpoints. Only manage.ts connects
  // these objects to the process and to the log.
  'parts.ts': [
    'clock.ts',
    'handle.ts',
    'health',
    'hooks',
    'http',
    'lifecycle',
    'observer.ts',
    'observers',
    'recorder.ts',
    'message.ts',
    'settings',
    'shutdown.ts',
    'startup.ts',
  ],
  // The folder fastify has only code for Fastify applications. fastify.ts combines it with the lifecycle.
  fastify: ['errors.ts', 'handle.ts', 'http', 'lifecycle', 'manage.ts', 'observers', 'parts.ts', 'message.ts'],
  // The folder grpc has the gRPC health service. grpc.ts combines it with the lifecycle.
  grpc: ['clock.ts', 'health', 'lifecycle'],
  // The folder register has the lifecycle of a program whose code does not use lameduck. register.cts loads it when the
  // first server listens. A worker of node:cluster loads cluster-worker.cts, which loads register.cts.
  register: [
    'handle.ts',
    'http',
    'manage.ts',
    'node-timers.ts',
    'parts.ts',
    'patch-emit.ts',
    'process',
    'register.cts',
    'settings',
  ],
  // The folder leader-election contends for a Lease. leader-election.ts connects it to a lifecycle and the process.
  'leader-election': ['bundled.ts', 'clock.ts', 'errors.ts', 'observer.ts', 'observers', 'arguments.ts', 'settings'],
  // The folder testing starts a server in a test, and counts the requests to this server. testing.ts connects the
  // folder to the lifecycle.
  testing: [
    'address.ts',
    'clock.ts',
    'errors.ts',
    'health',
    'http',
    'parts.ts',
    'patch-emit.ts',
    'settings',
    'observer.ts',
  ],
};

// Each key is a folder of src that has subfolders. Its value names, for each subfolder, the other subfolders that the
// subfolder may import. Code that several subfolders need is directly in the folder.
export const rooms: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  http: {
    admission: ['http1', 'http2', 'in-flight', 'responses'],
    drain: ['http1', 'long-running'],
    http1: ['responses'],
    http2: ['in-flight', 'responses'],
    'in-flight': ['http1', 'long-running', 'responses'],
    'long-running': ['in-flight', 'responses', 'upgraded'],
    responses: [],
    'self-requests': [],
    upgraded: ['in-flight', 'responses'],
  },
  // The folder `decision` does no I/O, and does not import `api-client`. Only the folder `loop` imports both `decision`
  // and `api-client`.
  'leader-election': {
    'api-client': ['decision'],
    decision: [],
    loop: ['api-client', 'decision'],
  },
};

// Folders whose code does no I/O, starts no timer and reads no clock.
export const pure: readonly string[] = ['lifecycle', 'leader-election/decision'];
