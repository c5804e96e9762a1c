// What the cards of a row and of a new row have in common.

import { button, focusCard, h } from "./dom.js";
import { asText } from "./row-field.js";
import { tableWords as said } from "./words-tables.js";
import { words } from "./words.js";

export const unsavedNote = (giveUp) => h("div", { class: "bar" },
  h("span", { class: "quiet-text" }, words.unsavedHere),
  button({ class: "small", onclick: giveUp }, words.giveUp));

/** The card itself. The focus goes to its heading. */
export function card(title, close, parts) {
  const element = h("article", { class: "card", "aria-labelledby": "row-title" },
    h("div", { class: "bar" },
      h("h2", { id: "row-title", tabindex: "-1" }, title),
      button({ class: "quiet", "aria-label": words.close, onclick: close }, "×")),
    parts);
  setTimeout(() => focusCard(element));
  return element;
}

/** The fields of the columns that the grid shows; those of the hidden ones can be unfolded. */
export function folded(fields, shown) {
  const elementsOf = (some) => some.map((one) => one.element);
  const hidden = fields.filter(({ name }) => !shown.includes(name));
  if (hidden.length < 2) return elementsOf(fields);
  return [
    elementsOf(fields.filter(({ name }) => shown.includes(name))),
    h("details", { open: hidden.some((one) => one.isChanged()) },
      h("summary", {}, said.moreColumns(hidden.length)),
      h("div", { class: "editor" }, elementsOf(hidden))),
  ];
}

/** What a person changed. What was not touched is not sent, in whatever form it came. */
export function valuesOf(fields) {
  return Object.fromEntries(fields.filter((one) => one.isChanged()).map((one) => [one.name, one.value()]));
}

/** The text of each field, by its name. */
export const textOfEach = (fields) => new Map(fields.map((one) => [one.name, one.text()]));

/** The columns of a row as text, by their names. */
export const textsOfRow = (row) => new Map(Object.keys(row).map((name) => [name, asText(row[name])]));

/** What is kept of an edit: of the row as it was, only the columns that were changed. */
export const rowDraft = (table, id, version, began, values) => ({
  table, id, title: id, version, values,
  began: values.map(([name]) => [name, began.get(name) ?? asText(null)]),
});

/** The names and texts of what a person changed. */
export const textsOf = (fields) =>
  fields.filter((one) => one.isChanged()).map((one) => [one.name, one.text()]);
