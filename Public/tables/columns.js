// Which columns of a table are shown: a list to choose from. This browser remembers the choice for each
// table.

import { button, find, h, refill } from "../shared/dom.js";
import { firstColumns } from "./state.js";
import { tableWords as said } from "./words.js";
import { words } from "../shared/words.js";

const keyOf = (table) => `understudy-columns-${table.toLowerCase()}`;

/**
 * The columns that are shown, in their order: those that a person chose, else the first few.
 * @param {string[]} all
 */
export function shownColumns(table, all) {
  const chosen = chosenColumns(table);
  return chosen ? all.filter((name) => chosen.includes(name)) : firstColumns(all);
}

/** @returns {string[] | null} */
function chosenColumns(table) {
  try {
    const names = JSON.parse(localStorage.getItem(keyOf(table)) ?? "null");
    return Array.isArray(names) ? names : null;
  } catch {
    return null; // This page did not write it.
  }
}

/** The button with its list. `changed()` is called after each choice, `includeDeleted` is a part of it. */
export function columnPicker(includeDeleted, changed) {
  let table = "";
  /** @type {string[]} */
  let all = [];
  const label = h("summary", { class: "button" });
  const count = h("p", { class: "quiet-text", role: "status" });
  const search = h("input", {
    type: "search", "aria-label": said.findColumn, placeholder: said.findColumn, oninput: drawList,
  });
  const list = h("ul", { class: "plain column-list" });
  const element = h("details", { class: "menu", onkeydown: close, ontoggle: drawList },
    label,
    h("div", { class: "card menu-sheet", role: "group", "aria-label": said.columnsTitle },
      h("label", { class: "switch" }, includeDeleted, words.showDeleted),
      count, search, list,
      h("div", { class: "actions" },
        button({ class: "small", onclick: () => choose(all) }, said.showAll),
        button({ class: "small", onclick: () => choose(null) }, said.showFew)),
      h("p", { class: "quiet-text" }, said.columnsFrom)));
  // A click beside the list closes it.
  const closeBeside = (event) => {
    if (element.open && !element.contains(event.target)) element.open = false;
  };
  document.addEventListener("pointerdown", closeBeside);

  function close(event) {
    if (event.key !== "Escape" || !element.open) return;
    event.preventDefault();
    element.open = false;
    label.focus();
  }

  function choose(names) {
    if (names) localStorage.setItem(keyOf(table), JSON.stringify(names));
    else localStorage.removeItem(keyOf(table));
    drawCount();
    drawList();
    changed();
  }

  function toggle(name, isShown) {
    const shown = shownColumns(table, all);
    choose(isShown ? [...shown, name] : shown.filter((one) => one !== name));
    find(list, `input[value="${CSS.escape(name)}"]`)?.focus();
  }

  function drawCount() {
    const shown = shownColumns(table, all).length;
    refill(label, said.columns(all.length - shown));
    refill(count, said.columnsCount(shown, all.length));
  }

  function drawList() {
    if (!element.open) return;
    const shown = shownColumns(table, all);
    const wanted = search.value.toLowerCase();
    const found = all.filter((name) => name.toLowerCase().includes(wanted));
    refill(list, found.map((name) => h("li", { "data-key": name },
      h("label", { class: "switch" },
        h("input", {
          type: "checkbox", value: name, checked: shown.includes(name),
          onchange: (event) => toggle(name, event.target.checked),
        }), name))));
  }

  return {
    element,
    /** @param {string[]} names */
    draw(nowTable, names) {
      const isSame = nowTable === table && names.join("\n") === all.join("\n");
      [table, all] = [nowTable, names];
      drawCount();
      if (!isSame) drawList();
    },
    close: () => document.removeEventListener("pointerdown", closeBeside),
  };
}
