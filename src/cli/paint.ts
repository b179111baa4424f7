// Colours the standard output if it is a terminal. `styleText` checks the stream and the variable NO_COLOR.
import { styleText } from 'node:util';

/** Paint returns a text in a style. It returns the text unchanged if standard output shows no styles. */
export type Paint = (style: Parameters<typeof styleText>[0], text: string) => string;

/** paint styles a text for standard output. */
export const paint: Paint = (style, text) => styleText(style, text, { stream: process.stdout });
