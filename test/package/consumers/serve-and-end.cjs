// A user's smallest program: it serves one request and shuts down. After that nothing may stay open.
const { once } = require('node:events');
const { createServer, get } = require('node:http');

module.exports = async function serveAndEnd({ lameduck }) {
  const server = createServer((_request, response) => response.end('hello'));
  const duck = lameduck(server);
  server.listen(0);
  await once(server, 'listening');

  const [response] = await once(get({ port: server.address().port, path: '/readyz' }), 'response');
  if (response.statusCode !== 200) throw new Error(`/readyz answers ${response.statusCode}`);
  response.resume();

  await duck.shutdown('the package works');
  if (server.listening) throw new Error('the server still listens after the shutdown');
};
