import { setTimeout as sleep } from 'node:timers/promises';
import { ServiceBroker } from 'moleculer';
import ApiGateway from 'moleculer-web';
import { pool } from '../pool.mjs';

const broker = new ServiceBroker({ logger: false });
broker.createService({
  name: 'greeter',
  actions: {
    hello: () => 'hello',
    slow: () => sleep(200, 'slow'),
  },
  stopped: () => pool.end(),
});
broker.createService({
  name: 'api',
  mixins: [ApiGateway],
  settings: {
    port: process.env.PORT ?? 3000,
    routes: [{ path: '/', aliases: { 'GET /': 'greeter.hello', 'GET /slow': 'greeter.slow' } }],
  },
});

// At SIGTERM, the Moleculer broker itself stops its services.
await broker.start();
