// How a table is read and written, and who decides its conflicts.

import { operator } from "./api.js";
import { h, toast } from "./dom.js";
import { policyWords } from "./words-settings.js";
import { words } from "./words.js";

/** The four policies of a table, each a choice that holds at once. */
export function tablePolicies(table, changed) {
  const choice = (name) => {
    const { label, choices } = policyWords[name];
    const select = h("select", { onchange: () => set(name, select) }, Object.entries(choices).map(([value, text]) => h("option", { value }, text)));
    select.value = table[name];
    return h("label", { class: "column" }, h("span", {}, label), select);
  };
  async function set(name, select) {
    try {
      await operator.patch(`/tables/${encodeURIComponent(table.name)}`, { [name]: select.value });
      table[name] = select.value;
      toast(words.saved);
    } catch (problem) {
      select.value = table[name];
      toast(problem.message);
    }
    changed();
  }
  return h("details", { class: "policies" }, h("summary", {}, words.policies), h("div", { class: "columns" }, Object.keys(policyWords).map(choice)));
}
