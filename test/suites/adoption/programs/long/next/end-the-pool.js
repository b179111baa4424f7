import { pool } from '../../pool.mjs';

if (process.env.NEXT_MANUAL_SIG_HANDLE === undefined) {
  // Next.js closes its server and exits. It does not wait for other listeners of the signal.
  process.once('SIGTERM', () => console.log('pool closed'));
} else {
  process.once('SIGTERM', async () => {
    await pool.end();
    process.exit(0);
  });
}
