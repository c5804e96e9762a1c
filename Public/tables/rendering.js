// Draws the tables view: the tables at the side; above the rows one line with the filter and what can be
// done; below them what is known about the table.

import { canWrite } from "../shared/api.js";
import { button, fill, find, form, h, keepFocus, options, refill } from "../shared/dom.js";
import { downloads } from "../shared/download.js";
import { draft } from "../shared/drafts.js";
import { number } from "../shared/formats.js";
import { columnPicker, shownColumns } from "./columns.js";
import { tableGrid } from "./grid.js";
import { apiPreview } from "./head.js";
import { addressOf, columnsOf, pathOf, selectionOf } from "./state.js";
import { leftText, unsavedLine, unsavedMark } from "../shared/unsaved.js";
import { tableWords as said } from "./words.js";
import { views, words } from "../shared/words.js";

/** Builds the page in `main`. Gives a function for each part that draws it from what is known. */
export function tablesPage(main, { go, open, turn, add }) {
  const sidebar = tableSidebar();
  const title = h("h1", {}, views.tables);
  const search = h("input", {
    type: "search", spellcheck: "false", placeholder: words.filterExample, "aria-label": words.filterRows,
    "aria-describedby": "filter-error",
  });
  const deleted = h("input", {
    type: "checkbox", onchange: () => go({ deleted: deleted.checked ? "yes" : "" }),
  });
  const refusal = h("p", { id: "filter-error", class: "attention", hidden: true });
  /** @type {[TableQuestion, TableItemPage, number] | null} */
  let latest = null;
  const columns = columnPicker(deleted, () => latest && drawGrid(...latest));
  const newButton = button({ onclick: add }, said.newRow);
  const pull = h("span", {});
  const grid = tableGrid({ open, turn, sort: (orderby) => go({ orderby }) });
  const side = h("div", { class: "side" });
  const notices = h("div", {});
  const unsaved = h("div", {});
  const about = h("section", { class: "table-about", "aria-label": said.about });
  const preview = h("div", {});
  const filter = form({ class: "table-filter", role: "search" }, () => go({ filter: search.value }),
    search, h("button", {}, words.applyFilter));
  const bar = h("div", { class: "table-bar" }, sidebar.select, filter, columns.element,
    canWrite && newButton, pull);
  const files = downloads((format) => latest && pathOf(latest[0], { ...selectionOf(latest[0]), format }));
  const body = h("div", { hidden: true }, bar,
    notices, unsaved, refusal,
    h("div", { class: "split narrow" }, h("div", {}, grid.element, grid.paging, files), side),
    about, preview);
  const none = h("div", {}, title);
  fill(main, h("section", { class: "page wide tables" }, sidebar.element, h("div", {}, none, body)));

  /** @param {TableStatus[]} tables */
  function drawTables(tables, chosen) {
    sidebar.draw(tables, chosen);
    none.hidden = tables.length > 0;
    if (none.hidden) bar.prepend(title);
    else fill(none, title, h("p", { class: "empty" }, words.noTables(location.origin)));
  }

  /** @param {TableQuestion} question */
  function drawFilter(question) {
    refill(title, question.table);
    if (document.activeElement !== search) search.value = question.filter;
    deleted.checked = question.deleted === "yes";
    refill(preview, apiPreview(question.table, question));
  }

  /** @param {TableItemPage} answer */
  function drawGrid(question, answer, skip) {
    const all = columnsOf(answer.items);
    columns.draw(question.table, all);
    keepFocus(grid.element, search, () =>
      grid.draw(question, answer, shownColumns(question.table, all), skip));
  }

  return {
    pull, notices, about, drawTables, drawFilter,
    drawRows(question, answer, skip) {
      refusal.hidden = true;
      latest = [question, answer, skip];
      drawGrid(...latest);
      body.hidden = false;
    },
    /** Shows a row as it was just stored, until the rows are read again. */
    drawStored(item) {
      const row = latest?.[1].items.find((one) => one.item.id === item.id);
      if (!latest || !row) return;
      row.item = item;
      drawGrid(...latest);
    },
    /** The rows on screen and the columns that they are shown with. */
    columns() {
      const items = latest?.[1].items.map((row) => row.item) ?? [];
      return { items, shown: latest ? shownColumns(latest[0].table, columnsOf(latest[1].items)) : [] };
    },
    /** Why the rows cannot be listed, in place of new rows. */
    drawRefusal(problem) {
      fill(refusal, problem.message);
      refusal.hidden = body.hidden = false;
    },
    hideTable: () => (body.hidden = true),
    drawSide: (card) => fill(side, card),
    /** What was typed for a row that is no longer here. */
    drawLeft({ title, values }, giveUp) {
      fill(side, leftText(title, values.map((one) => one.join(": ")).join("\n\n"), giveUp));
    },
    /**
     * Where there is unsaved text beside the card at the side, whose row or "new" is `open`.
     * @param {TableQuestion} question
     * @param {string | null} open
     */
    drawUnsaved(question, open) {
      const isHere = ({ table }) => table === question.table;
      const rows = draft.allOf("row")
        .filter((one) => one.values && !(isHere(one) && `row ${one.id}` === open))
        .map((one) => isHere(one)
          ? { title: one.title, href: addressOf({ ...question, id: one.id }) }
          : { title: `${one.table}: ${one.title}`, href: addressOf({ table: one.table, id: one.id }) });
      const news = draft.allOf("new-row");
      const hasNew = open !== "new" && news.some(isHere);
      const newElsewhere = news.filter((one) => !isHere(one))
        .map(({ table }) => ({ title: said.newRowOf(table), href: addressOf({ table }) }));
      refill(unsaved, unsavedLine([...rows, ...newElsewhere]));
      refill(newButton, said.newRow, hasNew && [" ", unsavedMark()]);
    },
    hasSide: () => side.firstChild !== null,
    focusGrid: () => find(grid.element, "[data-open]")?.focus(),
    close: columns.close,
  };
}

const searchedFrom = 12; // So many tables are worth a search.

function tableSidebar() {
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
