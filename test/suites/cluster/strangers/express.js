// An ordinary service on Express. It does not use lameduck and handles no signal.
import { hostname } from 'node:os';
import express from 'express';

const app = express();
app.use(express.json());
app.use((_request, response, next) => {
  response.set('X-Served-By', hostname());
  next();
});
app.get('/', (_request, response) => {
  response.json({ service: 'express' });
});
app.get('/slow', (request, response) => {
  setTimeout(() => response.json({}), Number(request.query.ms));
});
app.post('/orders', (request, response) => {
  response.status(201).json({ accepted: request.body });
});
app.listen(process.env.PORT);
