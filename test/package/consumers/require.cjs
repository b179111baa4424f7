const lameduck = require('lameduck');
const serveAndEnd = require('./serve-and-end.cjs');

serveAndEnd(lameduck);
