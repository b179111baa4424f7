// lameduck/register from its sources: Node 22 cannot import a file of CommonJS that requires modules in TypeScript.
import { createRequire } from 'node:module';

createRequire(import.meta.url)('../../src/register.cts');
