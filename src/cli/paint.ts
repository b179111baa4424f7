// Colours, for a terminal alone: `styleText` looks at the stream, and at NO_COLOR.
import { styleText } from 'node:util';

/** Paint returns a text in a style, where the standard output shows styles. */
export type Paint = (style: Parameters<typeof styleText>[0], text: string) => string;

/** paint is the Paint of the standard output. */
export const paint: Paint = (style, text) => styleText(style, text, { stream: process.stdout });
