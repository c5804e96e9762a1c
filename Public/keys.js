// The keyboard: one letter, one action, while nobody is typing. It can be switched off.

import { sheet } from "./dialog.js";
import { announce, h, toast, undoLast } from "./dom.js";
import { keySheet } from "./words-settings.js";
import { words } from "./words.js";

const offKey = "understudy-keys";
const typing = "input:not([type=checkbox]):not([type=radio]), textarea, select, [contenteditable]";
export const keysAreOn = () => localStorage.getItem(offKey) !== "off";

/** Listens for the page's life. `view()` gives the view on screen, whose `keys` come first. */
export function followKeys({ view, go }) {
  let after = null; // `g` waits for the letter of a view.
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || !keysAreOn()) return;
    if (event.target.closest?.(typing) || document.querySelector("dialog[open]")) return;
    const places = { t: "todos", c: "conflicts", o: "queue", d: "queue?state=quarantined", b: "tables", h: "history", s: "status" };
    const actions = {
      "/": () => document.querySelector("main input[type=search]")?.focus(),
      "?": showKeys,
      g: () => (after = "g"),
      j: () => move(1),
      k: () => move(-1),
      u: () => undoLast() || toast(words.nothingToUndo),
      t: nextTheme,
      ...view()?.keys,
    };
    const action = after === "g" ? places[event.key] && (() => go(places[event.key])) : actions[event.key];
    after = null;
    if (!action || action() === false) return;
    event.preventDefault();
  });
}

/** The row that has the focus, or the focus inside it. */
export const currentRow = () => document.activeElement?.closest?.("[data-row]");

/** Moves the focus to the next or the previous row. */
export function move(by) {
  const rows = [...document.querySelectorAll("main [data-row]")];
  if (!rows.length) return;
  const at = rows.indexOf(currentRow());
  const row = rows[at < 0 ? (by > 0 ? 0 : rows.length - 1) : Math.min(Math.max(at + by, 0), rows.length - 1)];
  (row.querySelector("[data-open]") ?? row).focus();
  row.scrollIntoView({ block: "nearest" });
}

export function nextTheme() {
  const name = understudyTheme.next();
  understudyTheme.set(name);
  announce(words.themeNow(name));
  document.dispatchEvent(new Event("understudy-theme"));
}

/** The sheet of all keys, with the switch. */
export function showKeys() {
  const on = h("input", { type: "checkbox", autofocus: true, checked: keysAreOn(), onchange: () => localStorage.setItem(offKey, on.checked ? "on" : "off") });
  sheet(words.keys, (close) => [
    h("div", { class: "bar" }, h("label", { class: "switch" }, on, words.keysOn),
      h("button", { type: "button", onclick: () => close() }, words.close)),
    h("dl", { class: "keys" }, keySheet.map(([keys, text]) =>
      h("div", {}, h("dt", {}, keys.split(" ").map((key) => [h("kbd", {}, key), " "])), h("dd", {}, text)))),
  ]);
}
