import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { ApolloServer } from '@apollo/server';
import { ApolloServerPluginDrainHttpServer } from '@apollo/server/plugin/drainHttpServer';
import { expressMiddleware } from '@as-integrations/express5';
import express from 'express';
import { pool } from '../pool.mjs';

const app = express();
const httpServer = createServer(app);

// At SIGTERM, Apollo Server stops by itself, and then sends the signal to its process once more.
const apollo = new ApolloServer({
  csrfPrevention: false,
  stopOnTerminationSignals: true,
  typeDefs: 'type Query { hello: String!, slow: String! }',
  resolvers: {
    Query: {
      hello: () => 'hello',
      slow: () => sleep(200, 'slow'),
    },
  },
  plugins: [
    ApolloServerPluginDrainHttpServer({ httpServer }),
    { serverWillStart: async () => ({ serverWillStop: () => pool.end() }) },
  ],
});
await apollo.start();
app.use('/graphql', express.json(), expressMiddleware(apollo));

httpServer.listen(process.env.PORT ?? 3000);
