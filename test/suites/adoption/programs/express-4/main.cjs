const express = require('express-4');
const { pool } = require('../pool.mjs');

const app = express();
app.get('/', (request, response) => {
  response.send('hello');
});
app.get('/slow', (request, response) => {
  setTimeout(() => response.send('slow'), 200);
});

const server = app.listen(process.env.PORT || 3000);

process.on('SIGTERM', () => {
  server.close(async (error) => {
    await pool.end();
    process.exit(error ? 1 : 0);
  });
});
