// The standalone output of Next.js has only the packages that the program imports. In an image without node_modules,
// install lameduck in a folder of its own, and write its full path in NODE_OPTIONS: `npm install --prefix /opt
// lameduck`, `--import /opt/node_modules/lameduck/dist/register.cjs`.
export default { output: 'standalone' };
