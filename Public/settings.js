// When sync happens by itself, and how much is sent at once. Every change takes effect immediately.

import { operator } from "./api.js";
import { column, h } from "./dom.js";
import { showProblem, toast } from "./messages.js";
import { settingWords, triggersTitle, triggerWords } from "./words-settings.js";
import { words } from "./words.js";

/** @param {Settings} settings */
export function settingsForm(settings) {
  /** Sends a change. If it is refused, `restore()` puts back what the form showed before. */
  async function change(body, restore) {
    try {
      Object.assign(settings, await operator.patch("/settings", body));
      toast(words.saved);
    } catch (problem) {
      restore();
      showProblem(problem);
    }
  }

  const triggers = Object.entries(triggerWords).map(([name, label]) => {
    const box = h("input", { type: "checkbox", checked: settings.triggers.some((one) => one === name) });
    box.addEventListener("change", () => {
      const others = settings.triggers.filter((one) => one !== name);
      change({ triggers: box.checked ? [...others, name] : others }, () => (box.checked = !box.checked));
    });
    return h("label", { class: "switch block" }, box, label);
  });

  const numbers = Object.entries(settingWords).map(([name, { label, min, max }]) => {
    const field = h("input", { type: "number", min, max, value: settings[name] });
    const restore = () => (field.value = settings[name]);
    field.addEventListener("change", () => change({ [name]: Number(field.value) }, restore));
    return column(label, field);
  });

  return h("div", {},
    h("fieldset", {}, h("legend", {}, triggersTitle), triggers),
    h("div", { class: "columns" }, numbers));
}
