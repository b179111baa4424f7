import { pool } from '../../../pool.mjs';

// At SIGTERM, SvelteKit closes its server. After that, it emits the event `sveltekit:shutdown`.
process.on('sveltekit:shutdown', () => pool.end());
