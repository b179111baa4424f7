import { pool } from '../../../pool.mjs';

// SvelteKit closes the server at SIGTERM, and emits this event after that.
process.on('sveltekit:shutdown', () => pool.end());
