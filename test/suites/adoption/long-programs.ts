// The test programs whose installation and build take minutes. `.ci/register-programs` runs these programs only with
// the option --long.
import { usual, type Program } from './program.ts';

const long = { ...usual, isLong: true } as const;

const nextStream = { path: '/stream', lastEvent: 'data: word19' };

export const longPrograms: readonly Program[] = [
  {
    ...long,
    title: 'Next.js, standalone',
    package: 'next',
    handling: 'its own listener closes the server and exits with 143; a second listener is in `instrumentation.js`',
    folder: 'long/next',
    args: ['.next/standalone/long/next/server.js'],
    end: '143',
    stream: nextStream,
  },
  {
    ...long,
    title: 'Next.js, standalone, handled by hand',
    package: 'next',
    handling: '`NEXT_MANUAL_SIG_HANDLE`, and a listener in `instrumentation.js` that exits with 0',
    folder: 'long/next',
    args: ['.next/standalone/long/next/server.js'],
    env: { NEXT_MANUAL_SIG_HANDLE: 'true' },
    stream: nextStream,
  },
  {
    ...long,
    title: 'Nitro',
    package: 'nitropack',
    handling: 'its own listener destroys connections that are idle, and exits with 0',
    folder: 'long/nitro',
    args: ['.output/server/index.mjs'],
  },
  {
    ...long,
    title: 'SvelteKit',
    package: '@sveltejs/kit',
    handling: 'its own listener closes the server, and the process ends by itself',
    folder: 'long/sveltekit',
    args: ['build/index.js'],
  },
];
