import websocket from '@fastify/websocket';
import Fastify from 'fastify';
import fastifyLameduck from 'lameduck/fastify';

const app = Fastify();
const plugins = [fastifyLameduck, websocket];
if (process.env.ORDER === 'last') plugins.reverse();
for (const plugin of plugins) await app.register(plugin);

app.get('/', { websocket: true }, (socket) => {
  socket.on('message', (data) => socket.send(String(data)));
});
app.get('/close', () => {
  void app.close();
  return 'closing';
});

await app.listen({ port: Number(process.env.PORT), host: '127.0.0.1' });
