// The rows of a table in a grid whose heads sort it, with the pages below it.

import { button, h, refill } from "../shared/dom.js";
import { time } from "../shared/formats.js";
import { columnKind, kindOf } from "./row-values.js";
import { cellText, isSortable, nextOrder, orderOf, pageSize } from "./state.js";
import { tableWords as said } from "./words.js";
import { words } from "../shared/words.js";

const signs = { asc: "▲", desc: "▼", none: "" };
const aria = { asc: "ascending", desc: "descending", none: "none" };
const oneLine = ["number", "time", "day", "boolean"];

/**
 * `open(row, table)` opens a row, `turn(skip)` shows the page that begins at a row, `sort(orderby)` sorts.
 */
export function tableGrid({ open, turn, sort }) {
  const element = h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": words.rows });
  const paging = h("div", { class: "bar" });

  /**
   * @param {TableItemPage} answer
   * @param {string[]} columns The shown columns without those of the system.
   */
  function draw(question, answer, columns, skip) {
    refill(element, answer.items.length > 0
      ? grid(answer.items, columns, question.orderby, { open: (row) => open(row, question.table), sort })
      : h("p", { class: "empty" }, question.filter ? words.nothingMatches : words.noRows));
    refill(paging, pages(answer, skip, turn));
  }

  return { element, paging, draw };
}

/** @param {TableItem[]} rows */
function grid(rows, columns, orderby, { open, sort }) {
  const items = rows.map((row) => row.item);
  const kinds = new Map(columns.map((name) => [name, columnKind(name, items)]));
  return h("table", { class: "grid" },
    h("thead", {}, h("tr", {},
      ["id", ...columns, "updatedAt"].map((name) => headCell(name, kinds.get(name), orderby, sort)),
      h("th", { scope: "col" }, words.whereColumn))),
    h("tbody", {}, rows.map((row) => gridRow(row, columns, kinds, () => open(row)))));
}

function headCell(name, kind, orderby, sort) {
  const order = orderOf(orderby, name);
  const className = kind === "number" ? "number" : "";
  if (!isSortable(name)) return h("th", { scope: "col", class: className, "data-key": name }, name);
  const label = said.sortBy(name, order);
  return h("th", { scope: "col", class: className, "data-key": name, "aria-sort": aria[order] },
    button({
      class: "head", "data-column": name, "aria-label": label, title: label,
      onclick: () => sort(nextOrder(orderby, name)),
    }, h("span", {}, name), h("span", { class: "sign", "aria-hidden": "true" }, signs[order])));
}

/** @param {TableItem} row */
function gridRow({ item, state }, columns, kinds, onclick) {
  const where = item.deleted ? words.deletedSide : (words.itemState[state] ?? state);
  const name = { "data-row": true, "data-id": item.id, "data-key": item.id };
  return h("tr", { ...name, class: item.deleted ? "done" : "" },
    h("th", { scope: "row", class: "one-line" },
      button({ class: "link", "data-open": true, onclick }, cellText(item.id))),
    columns.map((name) => valueCell(item[name], kinds.get(name))),
    h("td", { class: "one-line", title: item.updatedAt }, time(item.updatedAt)),
    h("td", {}, h("span", { class: `where ${state}` }, where)));
}

/** Numbers are at the right, and they, ids and times stay on one line. */
function valueCell(value, kind) {
  const own = kindOf(value);
  const isTime = own === "time";
  const names = [own && oneLine.includes(own) && "one-line", kind === "number" && "number"].filter(Boolean);
  return h("td", { dir: "auto", class: names.join(" "), title: isTime ? value : null },
    isTime ? time(value) : cellText(value));
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
