// The code of the probe thread. The build puts the text of the bundled thread in the place of this module, so that no file
// has to be found at run time.

/** threadCode is the file of the thread in the source tree, and its text in the package. */
export const threadCode: URL | string = new URL('./thread.ts', import.meta.url);
