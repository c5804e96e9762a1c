// Files that the browser saves. The buttons of a list save all that it shows, not only what is read of it.

import { download } from "./api.js";
import { button, h, onFirstClick } from "./dom.js";
import { attempt } from "./messages.js";
import { words } from "./words.js";

/** The buttons of a list. `pathOf(format)` gives the path of what is on screen at the click. */
export function downloads(pathOf) {
  const save = (format) => attempt(() => saveList(pathOf(format), format === "csv"));
  return h("span", { class: "actions" }, Object.entries(words.downloadAs).map(([format, label]) => button({
    class: "small", "aria-label": words.download(label), onclick: onFirstClick(() => save(format)),
  }, h("span", { "aria-hidden": "true" }, "↓"), label)));
}

/** Has the browser save the list that a path of the operator API gives. */
async function saveList(path, isCSV) {
  const { name, blob } = await download(path);
  // Spreadsheets take a text without this mark for one in an old character set.
  const href = URL.createObjectURL(isCSV ? new Blob(["\ufeff", blob]) : blob);
  h("a", { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), 60_000);
}
