// The question which table to show as todos, and which of its columns.

import { fill, h, toast } from "./dom.js";
import { columnsOf, likelyTable } from "./todo-source.js";
import { words } from "./words.js";

/**
 * The card. `known` are the tables, `now` is what is shown so far, if anything; `choose(source)` hears the choice, `cancel`
 * is there when the card can be left without one. Gives `{element, offer(known)}`.
 */
export function tableChoice(known, { now, title, choose, cancel }) {
  let question = 0; // Counts the tables looked at: columns of an earlier one are not offered.
  const table = h("select", { id: "choice-table", onchange: () => look() });
  const text = h("select", { id: "choice-text" });
  const done = h("select", { id: "choice-done" });
  const show = h("button", { class: "primary" }, words.choice.show);
  const label = (name, select) => h("label", { class: "column" }, h("span", {}, name), select);
  const element = h("form", { class: "card choice", "aria-labelledby": "choice-title", onsubmit: submit },
    h("h2", { id: "choice-title", tabindex: "-1" }, title),
    h("p", { class: "quiet-text" }, words.choice.why),
    h("div", { class: "columns" }, label(words.choice.table, table), label(words.choice.text, text), label(words.choice.done, done)),
    h("div", { class: "actions" }, show, cancel && h("button", { type: "button", onclick: cancel }, words.cancel)));

  const options = (select, names, chosen, more = []) => {
    fill(select, names.map((name) => h("option", { value: name }, name)), more);
    select.value = chosen;
  };

  function offer(tables) {
    const chosen = table.value || now?.table || likelyTable(tables);
    options(table, tables.map(({ name }) => name), chosen);
  }

  async function look() {
    const asked = ++question;
    text.disabled = done.disabled = show.disabled = true;
    try {
      const found = await columnsOf(table.value);
      if (asked !== question) return;
      const isNow = now?.table === table.value;
      const nothing = h("option", { value: "" }, words.choice.noDone);
      options(text, found.texts, isNow && found.texts.includes(now.text) ? now.text : found.text);
      options(done, found.dones, (isNow ? found.dones.find((name) => name === now.done) : found.done) ?? "", [nothing]);
      text.disabled = done.disabled = show.disabled = false;
    } catch (problem) {
      toast(problem.message);
      show.disabled = false; // To be asked again.
    }
  }

  function submit(event) {
    event.preventDefault();
    if (text.disabled) return look();
    choose({ table: table.value, text: text.value, done: done.value || null });
  }

  offer(known);
  look();
  return { element, offer };
}
