import { join } from 'node:path';

export default {
  output: 'standalone',
  outputFileTracingRoot: join(import.meta.dirname, '..', '..'),
  turbopack: { root: join(import.meta.dirname, '..', '..') },
};
