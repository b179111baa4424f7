'use strict';
const http = require('node:http');

const server = http.createServer((request, response) => {
  if (request.url === '/') response.end('hello');
  else if (request.url === '/slow') setTimeout(() => response.end('slow'), 200);
  else response.writeHead(404).end();
});

server.listen(process.env.PORT || 3000);

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, function () {
    server.close(function (error) {
      if (error) throw error;
      console.log('pool closed');
      process.exit(0);
    });
  });
}
