// Colours text for standard output. `styleText` returns plain text if standard output is not a terminal or NO_COLOR is
// set.
import { styleText } from 'node:util';

/** Paint returns a text in a style. It returns the text unchanged if standard output does not support styles. */
export type Paint = (style: Parameters<typeof styleText>[0], text: string) => string;

/** `paint()` styles a text for standard output. */
export const paint: Paint = (style, text) => styleText(style, text, { stream: process.stdout });
