module.exports = {
  mode: 'production',
  target: 'node',
  entry: './probe-port.mjs',
  output: { path: `${__dirname}/out/webpack`, filename: 'main.cjs', chunkFilename: '[id].cjs' },
};
