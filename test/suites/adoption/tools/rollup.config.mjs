import commonjs from '@rollup/plugin-commonjs';
import json from '@rollup/plugin-json';
import nodeResolve from '@rollup/plugin-node-resolve';

export default {
  input: 'probe-port.mjs',
  output: { dir: 'out/rollup', entryFileNames: 'main.mjs', chunkFileNames: '[name]-[hash].mjs' },
  plugins: [nodeResolve({ preferBuiltins: true }), commonjs(), json()],
};
