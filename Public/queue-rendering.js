// Draws the queue view: filters, causes, the bar for many, the frame of the list, and the card at the side.

import { button, fill, find, findAll, h, options } from "./dom.js";
import { number } from "./formats.js";
import { isFiltered, ledgerOf } from "./queue-state.js";
import { views, words } from "./words.js";

/** Builds the page in `main`. Gives the elements of list and side, and functions that draw the parts. */
export function queuePage(main, { go, pictures }) {
  const state = h("select", { id: "queue-state", onchange: () => go({ state: state.value }) },
    options([["", words.openStates], ...Object.entries(words.operationState), ["all", words.allStates]]));
  const table = h("select", { id: "queue-table", onchange: () => go({ table: table.value }) });
  const search = h("input", {
    id: "queue-search", type: "search", placeholder: words.searchQueue,
    oninput: () => go({ q: search.value }),
  });
  const chip = h("p", { class: "chip", hidden: true });
  const causes = h("ul", { class: "causes" });
  const bulk = h("div", { class: "bar bulk", role: "group", "aria-label": words.bulk });
  const list = h("div", { class: "operations" });
  const empty = h("p", { class: "empty", hidden: true });
  const ledger = h("p", { class: "quiet-text ledger" });
  const side = h("div", { class: "side" });
  fill(main, h("section", { class: "page wide" }, h("h1", {}, views.queue), pictures,
    h("div", { class: "bar filters" },
      h("label", {}, `${words.state} `, state),
      h("label", {}, `${words.table} `, table),
      h("label", { class: "wide" }, `${words.search} `, search)),
    chip, causes, bulk,
    h("div", { class: "split" }, h("div", {}, list, empty, ledger), side)));

  function drawFilter(filter) {
    state.value = filter.state;
    if (document.activeElement !== search) search.value = filter.q;
    chip.hidden = !filter.reason;
    fill(chip, `${words.reason}: ${filter.reason} `,
      button({ class: "small", onclick: () => go({ reason: "" }) }, words.removeFilter));
  }

  /** Draws the choice of a table, unless a person uses it. A chosen table that is gone stays a choice. */
  function drawTables(tables, filter) {
    if (document.activeElement === table) return;
    const known = tables.map(({ name }) => name);
    if (filter.table && !known.includes(filter.table)) known.push(filter.table);
    fill(table, options([["", words.allTables], ...known.map((name) => [name, name])]));
    table.value = filter.table;
  }

  /** "37 waiting: the backend refused the connection", each a filter; nothing when one is chosen. */
  function drawCauses(groups, filter) {
    const isPlain = filter.reason || groups.every((group) => group.count < 2);
    fill(causes, !isPlain && groups.map((group) => h("li", {},
      button({ onclick: () => go({ state: group.state, reason: group.reason }) },
        h("strong", {}, number(group.count)), stateTag(group.state),
        h("span", { class: "cause" }, group.reason)))));
  }

  /** What can be done about the picked operations, or about all that match where none is picked. */
  function drawBulk({ picked: { size: some }, total }, { retry, discard, pickNone }) {
    bulk.hidden = total === 0 && some === 0;
    fill(bulk, h("span", { class: "count" }, some ? words.picked(some) : words.matching(total)),
      h("span", { class: "actions" },
        some > 0 && button({ onclick: pickNone }, words.pickNone),
        button({ onclick: retry }, some ? words.retryPicked(some) : words.retryAll(total)),
        button({ onclick: discard }, some ? words.discardPicked(some) : words.discardAll(total))));
  }

  /** What stands in place of the list where it is empty, and the ledger below it. */
  function drawFrame({ filter, total }, status) {
    list.classList.toggle("bare", total === 0);
    empty.hidden = total > 0;
    fill(empty, !empty.hidden && (isFiltered(filter) ? words.nothingMatches : words.queueEmpty));
    if (status) fill(ledger, words.ledger(ledgerOf(status)));
  }

  /** The card of an operation. What a person folded or unfolded in the one before stays so. */
  function drawSide(card) {
    const before = new Map([...side.querySelectorAll("details")].map((one) => [one.dataset.name, one.open]));
    fill(side, card);
    for (const one of side.querySelectorAll("details")) one.open = before.get(one.dataset.name) ?? one.open;
  }

  return {
    list, side, drawFilter, drawTables, drawCauses, drawBulk, drawFrame, drawSide,
    clearSide: () => fill(side),
    drawNotFound: (id) => fill(side, h("p", { class: "empty" }, words.notFound(id))),
    isEdited: () => find(side, "textarea") !== null,
    hasFocusAtSide: () => side.contains(document.activeElement),
    edit: () => find(side, "[data-key=edit]")?.click(),
    focusRow: (id) => find(
      findAll(list, "[data-row]").find((row) => row.dataset.id === id), "[data-open]")?.focus(),
    focusBulk: () => find(bulk, "button")?.focus(),
  };
}

/** Where an operation is, as a coloured word. */
export const stateTag = (state) => h("span", { class: `tag ${state}` }, words.operationState[state] ?? state);
