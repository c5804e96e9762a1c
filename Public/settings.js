// When sync happens by itself, and how much at once. Every change holds at once.

import { operator } from "./api.js";
import { h, toast } from "./dom.js";
import { settingWords, triggerWords } from "./words-settings.js";
import { words } from "./words.js";

/** The form of the settings. */
export function settingsForm(settings) {
  async function change(body, restore) {
    try {
      Object.assign(settings, await operator.patch("/settings", body));
      toast(words.saved);
    } catch (problem) {
      restore();
      toast(problem.message);
    }
  }
  const triggers = Object.entries(triggerWords).map(([name, label]) => {
    const box = h("input", { type: "checkbox", checked: settings.triggers.includes(name) });
    box.addEventListener("change", () => {
      const others = settings.triggers.filter((one) => one !== name);
      change({ triggers: box.checked ? [...others, name] : others }, () => (box.checked = !box.checked));
    });
    return h("label", { class: "switch block" }, box, label);
  });
  const numbers = Object.entries(settingWords).map(([name, { label, min, max }]) => {
    const field = h("input", { type: "number", min, max, value: settings[name] });
    field.addEventListener("change", () => change({ [name]: Number(field.value) }, () => (field.value = settings[name])));
    return h("label", { class: "column" }, h("span", {}, label), field);
  });
  return h("div", {}, h("fieldset", {}, h("legend", {}, words.triggersTitle), triggers), h("div", { class: "columns" }, numbers));
}
