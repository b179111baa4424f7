// The code of the probe thread. The build replaces this module with a module that contains the bundled code as text.
// The package then needs no separate file for the thread at run time.

/**
 * threadCode is the code of the probe thread. In the source tree, it is the URL of the file thread.ts. In the built
 * package, it is the bundled code as text.
 */
export const threadCode: URL | string = new URL('./thread.ts', import.meta.url);
