// Loads lameduck/register from its TypeScript sources. Node 22 cannot import a CommonJS file that requires TypeScript
// modules.
import { createRequire } from 'node:module';

createRequire(import.meta.url)('../../src/register.cts');
