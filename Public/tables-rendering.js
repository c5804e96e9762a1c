// Draws the tables view: the choice of a table, the filter, and the places of head, grid and side.

import { apiPreview } from "./api-preview.js";
import { fill, find, form, h } from "./dom.js";
import { number } from "./formats.js";
import { tableGrid } from "./tables-grid.js";
import { addressOf } from "./tables-state.js";
import { views, words } from "./words.js";

/** Builds the page in `main`. Gives a function for each part that draws it from what is known. */
export function tablesPage(main, { go, open, turn }) {
  const choices = h("ul", { class: "table-list", "aria-label": words.tables });
  const head = h("div", {});
  const search = h("input", {
    type: "search", spellcheck: "false", placeholder: words.filterExample, "aria-describedby": "filter-error",
  });
  const orderby = h("input", { spellcheck: "false", placeholder: words.orderExample });
  const deleted = h("input", {
    type: "checkbox", onchange: () => go({ deleted: deleted.checked ? "yes" : "" }),
  });
  const refusal = h("p", { id: "filter-error", class: "attention", hidden: true });
  const submit = () => go({ filter: search.value, orderby: orderby.value });
  const filters = form({ class: "bar filters" }, submit,
    h("label", { class: "wide" }, words.filterRows, search),
    h("label", { class: "wide" }, words.orderRows, orderby),
    h("button", {}, words.applyFilter),
    h("label", { class: "switch" }, deleted, words.showDeleted));
  const grid = tableGrid({ open, turn });
  const side = h("div", { class: "side" });
  const preview = h("div", {});
  const body = h("div", { hidden: true },
    head, filters, refusal,
    h("div", { class: "split narrow" }, h("div", {}, grid.element, grid.paging), side),
    preview);
  fill(main, h("section", { class: "page wide" }, h("h1", {}, views.tables), choices, body));

  /** @param {TableStatus[]} tables */
  function drawTables(tables, chosen) {
    if (tables.length === 0) {
      fill(choices, h("li", { class: "empty" }, words.noTables(location.origin)));
      return;
    }
    fill(choices, tables.map(({ name, items }) => h("li", {},
      h("a", { href: addressOf({ table: name }), "aria-current": name === chosen ? "true" : null },
        name, h("span", { class: "count" }, ` ${number(items)}`)))));
  }

  function drawFilter(question) {
    if (document.activeElement !== search) search.value = question.filter;
    if (document.activeElement !== orderby) orderby.value = question.orderby;
    deleted.checked = question.deleted === "yes";
    fill(preview, apiPreview(question.table, question));
  }

  return {
    head, drawTables, drawFilter,
    drawRows(question, answer, skip) {
      refusal.hidden = true;
      grid.draw(question, answer, skip);
      body.hidden = false;
    },
    /** Why the rows cannot be listed, in place of new rows. */
    drawRefusal(problem) {
      fill(refusal, problem.message);
      refusal.hidden = body.hidden = false;
    },
    hideTable: () => (body.hidden = true),
    drawSide: (card) => fill(side, card),
    hasSide: () => side.firstChild !== null,
    focusGrid: () => find(grid.element, "[data-open]")?.focus(),
  };
}
