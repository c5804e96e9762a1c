// Parts of the English sentences in the files words….js.

import { number } from "./formats.js";

export const plural = (count, one, many) => (count === 1 ? one : many.replace("#", number(count)));

/**
 * A text of a row in a visible sentence. The signs around it (U+2068, U+2069) isolate it, so that its writing
 * direction does not change the order of the sentence.
 */
export const quoted = (text) => `“\u2068${text}\u2069”`;
