import { pool } from '../../../../pool.mjs';

export default defineNitroPlugin((nitro) => {
  nitro.hooks.hook('close', () => pool.end());
});
