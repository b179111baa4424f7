import { pool } from '../../pool.mjs';

if (process.env.NEXT_MANUAL_SIG_HANDLE === undefined) {
  // Next closes the server and exits without waiting for other listeners.
  process.once('SIGTERM', () => console.log('pool closed'));
} else {
  process.once('SIGTERM', async () => {
    await pool.end();
    process.exit(0);
  });
}
