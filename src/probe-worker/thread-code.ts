// The code of the probe thread. The build replaces this module with a module that contains the bundled code as text.
// The package then needs no separate file for the thread at run time.

/**
 * threadCode is the URL of the thread's file in the source tree. In the package, it is the code of the thread as text.
 */
export const threadCode: URL | string = new URL('./thread.ts', import.meta.url);
