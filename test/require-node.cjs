// Runs before every npm script of this package, with any version of Node. Therefore it uses only JavaScript syntax from
// 2009.
var wanted = require('../package.json').engines.node;
var least = wanted.replace('>=', '').split('.').map(Number);
var running = process.versions.node.split('.').map(Number);

if (running[0] < least[0] || (running[0] === least[0] && running[1] < least[1])) {
  var found = process.version + ' (' + process.execPath + ')';
  console.error('lameduck needs Node ' + wanted + ' and this is ' + found + ': run npm ci again.');
  process.exit(1);
}
