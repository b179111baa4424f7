// An ordinary service on Koa. It does not use lameduck and handles no signal.
import { hostname } from 'node:os';
import { text } from 'node:stream/consumers';
import Koa from 'koa';

const app = new Koa();
app.use(async (context) => {
  context.set('X-Served-By', hostname());
  if (context.method !== 'POST') {
    context.body = { service: 'koa' };
    return;
  }
  context.status = 201;
  context.body = { accepted: JSON.parse(await text(context.req)) };
});
app.listen(process.env.PORT);
