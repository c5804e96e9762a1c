// The keyboard: one letter, one action, unless a field has the focus. It can be switched off.

import { sheet } from "./dialog.js";
import { button, byId, find, findAll, h } from "./dom.js";
import { announce, toast, undoLast } from "./messages.js";
import { keySheet } from "../status/words.js";
import { words } from "./words.js";

const offKey = "understudy-keys";
const fields = "input:not([type=checkbox]):not([type=radio]), textarea, select, [contenteditable]";
const places = {
  t: "todos", c: "conflicts", o: "queue", d: "queue?state=quarantined",
  b: "tables", h: "history", s: "status",
};

const areOn = () => localStorage.getItem(offKey) !== "off";

/** Whether an input method is at work, as for Japanese: Enter and Escape are its keys then. */
export const isComposing = (event) => event.isComposing || event.keyCode === 229;

const typingMilliseconds = 1000;

/**
 * Says of each key press whether a person types on who has not seen that the field left the page: after a key
 * in such a field, and for as long as the keys follow one another.
 */
function typingOn() {
  /** @type {Element | null} */
  let field = null;
  let pressedAt = 0;
  return ({ target, timeStamp }) => {
    const isSoon = timeStamp - pressedAt < typingMilliseconds;
    pressedAt = timeStamp;
    if (target.closest?.(fields)) field = target;
    else if (!isSoon || target !== document.body) field = null;
    return field !== null && !field.isConnected;
  };
}

/** Whether a key press is not for this page's actions: it belongs to a field, a dialog or the browser. */
function isForOthers(event) {
  return event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented
    || event.target.closest?.(fields) || find(document, "dialog[open]");
}

const isSearch = (element) => element.matches?.("main input[type=search]");

/** In a search, Enter goes to the first row of the list and Escape leaves the field; its text stays. */
function leaveSearch(event) {
  if (!isSearch(event.target) || isComposing(event) || find(document, "dialog[open]")) return;
  if (event.key !== "Escape" && event.key !== "Enter") return;
  event.preventDefault(); // Else Enter would open the row that gets the focus.
  if (event.key === "Escape") return byId("main").focus({ preventScroll: true });
  event.target.form?.requestSubmit();
  moveToList(event.target);
}

/** Goes to the first row, as soon as there is one and for as long as the person waits in the field. */
function moveToList(field) {
  const go = () => {
    if (document.activeElement === field) move(1);
    if (document.activeElement !== field) observer.disconnect();
  };
  const observer = new MutationObserver(go);
  observer.observe(byId("main"), { childList: true, subtree: true });
  field.addEventListener("input", () => observer.disconnect(), { once: true });
  go();
}

/** Opens the row with the focus: where it leads to, else what it has folded. */
function openRow() {
  const row = currentRow();
  const opener = row === document.activeElement && find(row, "[data-open], summary");
  return opener ? opener.click() : false;
}

/** Listens for as long as the page is open. The keys of the view on screen come first. */
export function followKeys({ view, go }) {
  let isAfterG = false;
  const isTypedOn = typingOn();
  addEventListener("keydown", (event) => {
    leaveSearch(event);
    if (isTypedOn(event) || !areOn() || isForOthers(event)) return;
    const actions = {
      "/": () => findAll(document, "main input[type=search]").find((one) => one.offsetParent)?.focus(),
      "?": showKeys,
      g: () => void (isAfterG = true),
      j: () => move(1),
      k: () => move(-1),
      Enter: openRow,
      u: () => undoLast() || toast(words.nothingToUndo),
      t: nextTheme,
      ...view()?.keys,
    };
    const place = places[event.key];
    const action = isAfterG ? place && (() => go(place)) : actions[event.key];
    isAfterG = false;
    if (!action || action() === false) return;
    event.preventDefault();
  });
}

/**
 * The row with the focus.
 * @returns {HTMLElement | null | undefined}
 */
export const currentRow = () => document.activeElement?.closest("[data-row]");

/** Moves the focus to the next or the previous row; without a current row to the first or the last. */
function move(by) {
  const rows = findAll(document, "main [data-row]");
  const last = rows.length - 1;
  if (last < 0) return;
  // The focus may be outside of the list, as in the card of a row.
  const here = currentRow() ?? find(document, "main [data-row] [aria-current]")?.closest("[data-row]");
  const at = rows.findIndex((row) => row === here);
  const start = by > 0 ? 0 : last;
  const row = rows[at < 0 ? start : Math.min(Math.max(at + by, 0), last)];
  (find(row, "[data-open]") ?? row).focus();
  row.scrollIntoView({ block: "nearest" });
}

export function nextTheme() {
  const name = understudyTheme.next();
  understudyTheme.set(name);
  announce(words.themeNow(name));
  document.dispatchEvent(new Event("understudy-theme"));
}

export function showKeys() {
  const onchange = () => localStorage.setItem(offKey, on.checked ? "on" : "off");
  const on = h("input", { type: "checkbox", autofocus: true, checked: areOn(), onchange });
  const signs = (keys) => keys.split(" ").map((key) => [h("kbd", {}, key), " "]);
  sheet(words.keys, (close) => [
    h("div", { class: "bar" },
      h("label", { class: "switch" }, on, words.keysOn),
      button({ onclick: () => close() }, words.close)),
    h("dl", { class: "keys" }, keySheet.map(([keys, text]) =>
      h("div", {}, h("dt", {}, signs(keys)), h("dd", {}, text)))),
  ]);
}
