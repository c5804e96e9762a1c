// The question which table to show as todos, and which of its columns.

import { button, column, fill, form, h, note, options } from "../shared/dom.js";
import { showProblem } from "../shared/messages.js";
import { columnsOf, likelyTable } from "./source.js";
import { words } from "../shared/words.js";

/**
 * The card. `now` is what is shown so far; `cancel` is there where the card can be left without a choice.
 * @param {KnownTable[]} known
 * @param {{ title: string, now?: TodoSource, choose(source: TodoSource): void, cancel?(): void }} parts
 */
export function tableChoice(known, { title, now, choose, cancel }) {
  let question = 0; // Counts the tables looked at: columns of an earlier one are not offered.
  const table = h("select", { id: "choice-table", onchange: () => look() });
  const text = h("select", { id: "choice-text" });
  const done = h("select", { id: "choice-done" });
  const show = h("button", { class: "primary" }, words.choice.show);
  const element = form({ class: "card choice", "aria-labelledby": "choice-title" }, submit,
    h("h2", { id: "choice-title", tabindex: "-1" }, title),
    note(words.choice.why),
    h("div", { class: "columns" },
      column(words.choice.table, table), column(words.choice.text, text), column(words.choice.done, done)),
    h("div", { class: "actions" }, show, cancel && button({ onclick: cancel }, words.cancel)));

  function offer(tables) {
    const chosen = table.value || now?.table || likelyTable(tables);
    offerNames(table, tables.map(({ name }) => name), chosen);
  }

  async function look() {
    const asked = ++question;
    text.disabled = done.disabled = show.disabled = true;
    try {
      const found = await columnsOf(table.value);
      if (asked !== question) return;
      offerColumns(found, now?.table === table.value ? now : null);
      text.disabled = done.disabled = show.disabled = false;
    } catch (problem) {
      showProblem(problem);
      show.disabled = false; // A click on it looks again.
    }
  }

  /** Chooses the columns that are shown so far; in another table the likely ones. */
  function offerColumns(found, shown) {
    const hasText = shown && found.texts.includes(shown.text);
    const doneName = shown ? found.dones.find((name) => name === shown.done) : found.done;
    offerNames(text, found.texts, hasText ? shown.text : found.text);
    offerNames(done, found.dones, doneName ?? "", [["", words.choice.noDone]]);
  }

  function submit() {
    if (text.disabled) look();
    else choose({ table: table.value, text: text.value, done: done.value || null });
  }

  offer(known);
  look();
  return { element, offer };
}

function offerNames(select, names, chosen, others = []) {
  fill(select, options([...names.map((name) => [name, name]), ...others]));
  select.value = chosen;
}
