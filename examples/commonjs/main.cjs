const { createServer } = require('node:http');
const { setTimeout: sleep } = require('node:timers/promises');
const express = require('express');
const { lameduck } = require('lameduck');

const app = express();
app.get('/', (_request, response) => {
  response.send('hello\n');
});
app.get('/slow', async (_request, response) => {
  await sleep(200);
  response.send('slow\n');
});

// app.listen() would listen at once. With createServer(), checks and hooks can be added at any time before listen().
const server = createServer(app);
const duck = lameduck(server);
duck.addDestroyHook('database', () => {
  console.log('pool closed'); // close pools here: the last response has been sent
});

server.listen(Number(process.env.PORT ?? 8080));
