// Serves one request and shuts down, on any JavaScript runtime.
import { createServer } from 'node:http';
import { lameduck } from 'lameduck';

const server = createServer((request, response) => response.end('ok'));
const duck = lameduck(server);
server.listen(0, '127.0.0.1', async () => {
  const { port } = server.address();
  console.log(await (await fetch(`http://127.0.0.1:${port}/readyz`)).text());
  const { exitCode } = await duck.shutdown('test');
  console.log(`ended with ${exitCode}`);
  process.exit();
});
