// The smallest Fastify application that a user can write. It serves one request and closes. After that, nothing may
// keep the process alive.
const Fastify = require('fastify');

module.exports = async function serveAndEnd(plugin) {
  const app = Fastify();
  await app.register(plugin);
  app.get('/', async () => 'hello');
  const address = await app.listen({ host: '127.0.0.1', port: 0 });
  for (const path of ['/', '/readyz']) {
    const { status } = await fetch(address + path, { headers: { Connection: 'close' } });
    if (status !== 200) throw new Error(`${path} answers ${status}`);
  }

  await app.close();
  const { reason } = await app.lameduck.ended;
  if (reason !== 'app.close()' || app.server.listening) throw new Error(`the application has not closed: ${reason}`);
};
