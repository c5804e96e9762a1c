// What a person typed and did not save, as the drafts have it: where it is, and the text itself where what it
// was typed for is gone.

import { copyButton } from "./clipboard.js";
import { button, h } from "./dom.js";
import { draft, othersWithDrafts, todoDrafts } from "./drafts.js";
import { oneLine, shortened } from "./formats.js";
import { addressOf } from "../tables/state.js";
import { words } from "./words.js";

const titleMost = 40;

/**
 * A line with a link to each row, change or conflict that has unsaved text; false where there is none.
 * @param {{ title: string, href: string }[]} places
 */
export const unsavedLine = (places) => places.length > 0 && h("p", { class: "quiet-text unsaved" },
  `${words.unsavedIn} `,
  places.map(({ title, href }, index) => [
    index > 0 && " · ",
    h("a", { href, dir: "auto" }, shortened(oneLine(title), titleMost)),
  ]));

/** Everything that is not saved in this tab, of all views and identities. */
export function unsavedPlaces() {
  const tableRows = draft.allOf("row").filter((one) => one.values); // The others are those of todos.
  return [
    ...todoDrafts().map(({ text }) => ({ title: text, href: "#/todos" })),
    ...tableRows.map(({ table, id, title }) => ({ title, href: addressOf({ table, id }) })),
    ...draft.allOf("new-row").map(({ table }) => ({ title: words.newIn(table), href: addressOf({ table }) })),
    ...draft.allOf("conflict").map(({ id, title }) => ({ title, href: `#/conflicts/${id}` })),
    ...draft.allOf("operation").map(({ id, title }) => ({ title, href: `#/queue/${id}` })),
    ...othersWithDrafts().map((name) =>
      ({ title: words.unsavedOf(name), href: `?identity=${encodeURIComponent(name)}#/status` })),
  ];
}

/** The mark of a row in a list. */
export const unsavedMark = () => h("span", { class: "unsaved-mark" }, words.unsaved);

/**
 * The text that was typed for something that is gone.
 * @param {string} title
 * @param {string} text
 */
export const leftText = (title, text, giveUp) => leftCard(words.leftText(title), text, giveUp);

/**
 * A text that has no field here. It can be copied, and it stays until it is given up.
 * @param {string} sentence
 * @param {string} text
 */
export const leftCard = (sentence, text, giveUp) => h("section", { class: "card left-text" },
  h("p", {}, sentence),
  h("pre", { tabindex: "0", dir: "auto" }, text),
  h("div", { class: "actions" },
    copyButton({}, words.copy, () => text),
    button({ onclick: giveUp }, words.giveUp)));
