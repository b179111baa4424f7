// The standalone output has only what the program imports. In an image without node_modules, install lameduck beside it and
// give NODE_OPTIONS its full path: `npm install --prefix /opt lameduck`, `--import /opt/node_modules/lameduck/dist/register.cjs`.
export default { output: 'standalone' };
