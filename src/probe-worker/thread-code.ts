// The code of the probe thread. The build replaces this module by the text of the bundled thread, so that no file has to be
// found at run time.

/** threadCode is the URL of the thread's file in the source tree, and the text of the thread in the package. */
export const threadCode: URL | string = new URL('./thread.ts', import.meta.url);
