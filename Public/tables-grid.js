// The rows of a table in a grid, with the pages below it.

import { button, fill, find, findAll, h } from "./dom.js";
import { time } from "./formats.js";
import { currentRow } from "./keys.js";
import { cellText, columnsOf, pageSize } from "./tables-state.js";
import { words } from "./words.js";

/** `open(row)` opens a row, `turn(skip)` shows the page that begins at a row. */
export function tableGrid({ open, turn }) {
  const element = h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": words.rows });
  const paging = h("div", { class: "bar" });

  /** @param {TableItemPage} answer */
  function draw(question, answer, skip) {
    const focused = currentRow()?.dataset.id;
    fill(element, answer.items.length > 0
      ? grid(answer.items, open)
      : h("p", { class: "empty" }, question.filter ? words.nothingMatches : words.noRows));
    if (focused) focusRow(focused);
    fill(paging, pages(answer, skip, turn));
  }

  function focusRow(id) {
    const row = findAll(element, "[data-row]").find((one) => one.dataset.id === id);
    find(row, "[data-open]")?.focus();
  }

  return { element, paging, draw };
}

function grid(rows, open) {
  const columns = columnsOf(rows);
  const head = [...columns, "updatedAt", words.whereColumn];
  return h("table", { class: "grid" },
    h("thead", {}, h("tr", {}, head.map((name) => h("th", { scope: "col" }, name)))),
    h("tbody", {}, rows.map((row) => gridRow(row, columns, () => open(row)))));
}

/** @param {TableItem} row */
function gridRow({ item, state }, columns, onclick) {
  const where = item.deleted ? words.deletedSide : (words.itemState[state] ?? state);
  return h("tr", { "data-row": true, "data-id": item.id, class: item.deleted ? "done" : "" },
    h("th", { scope: "row" }, button({ class: "link", "data-open": true, onclick }, cellText(item.id))),
    columns.slice(1).map((name) => h("td", { dir: "auto" }, cellText(item[name]))),
    h("td", { class: "nowrap", title: item.updatedAt }, time(item.updatedAt)),
    h("td", {}, h("span", { class: `where ${state}` }, where)));
}

function pages({ items, total, next }, skip, turn) {
  const page = (label, to) => button({ disabled: to === null, onclick: () => turn(to) }, label);
  const before = skip > 0 ? Math.max(0, skip - pageSize) : null;
  return [
    h("span", { class: "count" }, words.range(total ? skip + 1 : 0, skip + items.length, total)),
    total > pageSize && h("span", { class: "actions" },
      page(words.previous, before),
      page(words.next, next ? skip + pageSize : null)),
  ];
}
