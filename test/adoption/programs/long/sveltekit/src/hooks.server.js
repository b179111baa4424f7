import { pool } from '../../../pool.mjs';

// SvelteKit closes the server at SIGTERM, and says here when it has.
process.on('sveltekit:shutdown', () => pool.end());
