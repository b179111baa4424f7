import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { createSchema, createYoga } from 'graphql-yoga';
import { pool } from '../pool.mjs';

const yoga = createYoga({
  logging: false,
  schema: createSchema({
    typeDefs: 'type Query { hello: String!, slow: String! }',
    resolvers: {
      Query: {
        hello: () => 'hello',
        slow: () => sleep(200, 'slow'),
      },
    },
  }),
});

const server = createServer(yoga);
server.listen(process.env.PORT ?? 3000);

process.once('SIGTERM', () => {
  server.close(async (error) => {
    await yoga.dispose();
    await pool.end();
    process.exit(error ? 1 : 0);
  });
});
