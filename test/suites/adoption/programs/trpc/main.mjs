import { setTimeout as sleep } from 'node:timers/promises';
import { initTRPC } from '@trpc/server';
import { createHTTPServer } from '@trpc/server/adapters/standalone';
import { pool } from '../pool.mjs';

const { procedure, router } = initTRPC.create();
const appRouter = router({
  hello: procedure.query(() => 'hello'),
  slow: procedure.query(() => sleep(200, 'slow')),
});

const server = createHTTPServer({ router: appRouter });
server.listen(Number(process.env.PORT ?? 3000));

process.on('SIGTERM', () => {
  server.close(async (error) => {
    await pool.end();
    process.exit(error ? 1 : 0);
  });
});
