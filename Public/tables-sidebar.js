// The tables to choose from: a list at the side, or one field above the rows on a narrow page.

import { h, options, refill } from "./dom.js";
import { number } from "./formats.js";
import { addressOf } from "./tables-state.js";
import { tableWords as said } from "./words-tables.js";
import { words } from "./words.js";

const searchedFrom = 12; // So many tables are worth a search.

export function tableSidebar() {
  /** @type {TableStatus[]} */
  let tables = [];
  let chosen = "";
  const search = h("input", {
    type: "search", "aria-label": said.find, placeholder: said.find, hidden: true, oninput: drawList,
  });
  const list = h("ul", { class: "table-list", "aria-label": words.tables });
  const select = h("select", {
    class: "table-select", "aria-label": said.choose,
    onchange: () => (location.hash = addressOf({ table: select.value })),
  });
  const element = h("div", { class: "table-side" }, search, list);

  function drawList() {
    const wanted = search.value.toLowerCase();
    const found = tables.filter(({ name }) => name.toLowerCase().includes(wanted));
    refill(list, found.map(({ name, items }) => h("li", { "data-key": name },
      h("a", { href: addressOf({ table: name }), "aria-current": name === chosen ? "true" : null },
        h("span", { class: "name" }, name), h("span", { class: "count" }, number(items))))));
  }

  /** @param {TableStatus[]} known */
  function draw(known, nowChosen) {
    [tables, chosen] = [known, nowChosen];
    search.hidden = tables.length < searchedFrom;
    drawList();
    if (document.activeElement === select) return;
    const names = tables.map(({ name, items }) => [name, `${name} (${number(items)})`]);
    if (!tables.some(({ name }) => name === chosen)) names.unshift([chosen, chosen]);
    refill(select, options(names));
    select.value = chosen;
  }

  return { element, select, draw };
}
