import { defineNitroConfig } from 'nitropack/config';

export default defineNitroConfig({
  srcDir: 'server',
  preset: 'node-server',
  compatibilityDate: '2026-01-01',
});
