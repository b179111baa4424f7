import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { ApolloServer } from '@apollo/server';
import { expressMiddleware } from '@as-integrations/express5';
import express from 'express';
import { lameduck } from 'lameduck';

// Apollo needs neither ApolloServerPluginDrainHttpServer nor its own signal handling, because lameduck drains the server.
const apollo = new ApolloServer({
  stopOnTerminationSignals: false,
  typeDefs: 'type Query { hello: String!, slow: String! }',
  resolvers: { Query: { hello: () => 'hello', slow: () => sleep(200, 'slow') } },
});
await apollo.start();

const app = express();
app.use('/graphql', express.json(), expressMiddleware(apollo));

const server = createServer(app);
const duck = lameduck(server);
duck.addDestroyHook('apollo', () => apollo.stop()); // runs after the last response

server.listen(Number(process.env.PORT ?? 8080));
