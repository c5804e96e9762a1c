// Lines for a terminal and copies to the clipboard.

import { button } from "./dom.js";
import { toast } from "./messages.js";
import { words } from "./words.js";

/** A text as one word of a shell. */
export const shell = (text) => `'${text.replaceAll("'", "'\\''")}'`;

/** Copies a text, and says whether the browser let it. */
const copy = async (text) => {
  try {
    await navigator.clipboard.writeText(text); // A page over plain HTTP from another device has none.
    toast(words.copied);
  } catch {
    toast(words.notCopied);
  }
};

/** A button that copies what `text()` gives. */
export const copyButton = (properties, label, text) =>
  button({ ...properties, onclick: () => copy(text()) }, label);
