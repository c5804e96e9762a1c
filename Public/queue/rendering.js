// Draws the queue view: states with their counts, filters, causes, the bar for many, the frame of the list,
// and the card at the side.

import { decisionStates } from "../shared/connection-state.js";
import { addressOf as conflictsOf } from "../conflicts/state.js";
import {
  button, column, drawChoice, fill, find, findAll, h, options, refill, setChoice,
} from "../shared/dom.js";
import { downloads } from "../shared/download.js";
import { draft, draftOf } from "../shared/drafts.js";
import { number } from "../shared/formats.js";
import { causesTable } from "./causes.js";
import { addressOf, addressOfState, closedStates, isFiltered, ledgerOf, openStates } from "./state.js";
import { leftText, unsavedLine } from "../shared/unsaved.js";
import { queueWords as said } from "./words.js";
import { views, words } from "../shared/words.js";

/** Builds the page in `main`. Gives the elements of list and side, and functions that draw the parts. */
export function queuePage(main, { go, pictures, actOnCause, showAllCauses, pathOf }) {
  const states = h("nav", { class: "states", "aria-label": said.state });
  const choice = (name, pairs) => {
    const select = h("select", { id: `queue-${name}`, onchange: () => go({ [name]: select.value }) },
      options(pairs));
    return select;
  };
  const choices = {
    table: choice("table", [["", said.allTables]]),
    sort: choice("sort", Object.entries(said.queueOrder)),
    status: choice("status", [["", said.any]]),
    attempts: choice("attempts", Object.entries(said.attemptsLeast)),
    age: choice("age", Object.entries(said.ageLeast)),
  };
  const search = h("input", {
    id: "queue-search", type: "search", placeholder: said.searchQueue,
    oninput: () => go({ q: search.value }),
  });
  const further = h("details", { class: "further" },
    h("summary", {}, said.moreFilters),
    h("div", { class: "actions" },
      column(said.status, choices.status),
      column(said.attemptsLabel, choices.attempts),
      column(said.age, choices.age)));
  const unsaved = h("div", {});
  const chip = h("p", { class: "chip", hidden: true });
  const causes = causesTable({ act: actOnCause, showAll: showAllCauses });
  const bulk = h("div", { class: "bar bulk", role: "group", "aria-label": said.bulk });
  const files = downloads(pathOf);
  const list = h("div", { class: "operations" });
  const empty = h("p", { class: "empty", hidden: true });
  const ledger = h("p", { class: "quiet-text ledger" });
  const side = h("div", { class: "side" });
  // Shown with the causes, which stand above it: so it does not move when they arrive.
  const heads = [said.change, said.fields, said.state, said.attemptsLabel, said.age];
  const head = h("div", { class: "list-head", "aria-hidden": "true" },
    heads.map((name) => h("span", {}, name)));
  const below = h("div", { hidden: true }, h("div", { class: "split" },
    h("div", {}, h("div", { class: "list-top" }, bulk, head), list, empty, ledger), side));
  fill(main, h("section", { class: "page wide" }, h("h1", {}, views.queue), pictures,
    h("div", { class: "queue" },
      states,
      h("div", {},
        h("div", { class: "bar filters" },
          h("label", {}, `${words.table} `, choices.table),
          h("label", {}, `${words.sort} `, choices.sort),
          h("label", { class: "wide" }, `${words.search} `, search),
          further),
        unsaved, chip, causes.element, below))));

  /** @param {QueueFilter} filter */
  function drawFilter(filter) {
    for (const [name, select] of Object.entries(choices)) setChoice(select, filter[name]);
    if (document.activeElement !== search) search.value = filter.q;
    if (filter.attempts || filter.age || filter.status) further.open = true;
    chip.hidden = !filter.reason;
    fill(chip, h("span", { dir: "auto" }, `${said.cause}: ${filter.reason}`),
      button({ class: "small", onclick: () => go({ reason: "", status: "" }) }, said.removeFilter));
  }

  /** Draws the states, with how many operations are in each that is open, and the ledger. */
  function drawStates(filter, status) {
    const counts = status?.queue ?? {};
    const open = openStates.reduce((sum, name) => sum + (counts[name] ?? 0), 0);
    const link = (name, label, count) => h("a", {
      href: addressOfState(filter, name), "aria-current": filter.state === name ? "true" : null,
      class: count === 0 ? "none" : null,
    }, h("span", {}, label), status && count !== null && h("span", { class: "count" }, number(count)));
    refill(states,
      link("", said.openStates, open),
      link(decisionStates, said.needsDecision, (counts.conflict ?? 0) + (counts.quarantined ?? 0)),
      openStates.map((name) => link(name, words.operationState[name], counts[name] ?? 0)),
      closedStates.map((name) => link(name, words.operationState[name], null)),
      link("all", said.allStates, null));
    if (status) refill(ledger, said.ledger(ledgerOf(status)));
  }

  /** Draws the choices of tables and statuses. */
  function drawChoices(tables, groups, filter) {
    const names = tables.map(({ name }) => [name, name]);
    drawChoice(choices.table, [["", said.allTables], ...names], filter.table);
    const codes = [...new Set(groups.map(({ status }) => status))].filter(Boolean).sort();
    drawChoice(choices.status,
      [["", said.any], ["none", said.noAnswer], ...codes.map((code) => [code, code])], filter.status);
  }

  /** What can be done about the picked operations, or about all that match where none is picked. */
  function drawBulk({ picked, total, filter }, { retry, discard, decide, pickNone, print }) {
    const some = picked.size;
    const conflicts = [...picked.values()].filter(({ state }) => state === "conflict").length;
    const hasConflicts = some === 0 && total > 0 && filter.state.split(",").includes("conflict");
    bulk.hidden = total === 0 && some === 0;
    refill(bulk, h("span", { class: "count" }, some ? said.picked(some) : said.matching(total)),
      h("span", { class: "actions" },
        some > 0 && button({ "data-key": "none", onclick: pickNone }, said.pickNone),
        conflicts > 0 && button({ "data-key": "decide", onclick: decide }, said.decide(conflicts)),
        hasConflicts && h("a", {
          class: "button", "data-key": "conflicts",
          href: conflictsOf(null, { table: filter.table, q: filter.q }),
        }, views.conflicts),
        button({ "data-key": "retry", onclick: retry },
          some ? said.retryPicked(some) : said.retryAll(total)),
        button({ "data-key": "discard", onclick: discard },
          some ? said.discardPicked(some) : said.discardAll(total)),
        button({ "data-key": "print", onclick: print }, said.print)),
      some === 0 && files);
  }

  /** What stands in place of the list where it is empty, and the counts around it. */
  function drawFrame({ filter, total }, status) {
    list.classList.toggle("bare", total === 0);
    head.hidden = total === 0;
    empty.hidden = total > 0;
    refill(empty, !empty.hidden && (isFiltered(filter) ? words.nothingMatches : said.queueEmpty));
    drawStates(filter, status);
  }

  /** The card of an operation. What a person folded or unfolded in the one before stays so. */
  function drawSide(card) {
    const before = new Map([...side.querySelectorAll("details")].map((one) => [one.dataset.name, one.open]));
    fill(side, card);
    for (const one of side.querySelectorAll("details")) one.open = before.get(one.dataset.name) ?? one.open;
  }

  return {
    list, side, drawFilter, drawStates, drawChoices, drawBulk, drawFrame, drawSide,
    drawCauses: causes.draw,
    showList: () => (below.hidden = false),
    clearSide: () => fill(side),
    drawNotFound(id, giveUp) {
      const typed = draft.read(draftOf.operation(id));
      fill(side, h("p", { class: "empty" }, said.notFound(id)),
        typed && leftText(typed.title, typed.text, giveUp));
    },
    /** Where there is unsaved text beside the operation at the side. @param {QueueFilter} filter */
    drawUnsaved(filter) {
      const others = draft.allOf("operation").filter(({ id }) => id !== filter.id);
      refill(unsaved, unsavedLine(others.map(({ id, title }) =>
        ({ title, href: addressOf({ ...filter, id }) }))));
    },
    isEdited: () => find(side, "textarea") !== null,
    /** Marks the row whose card is open at once, so that `j` and `k` go on from it. */
    markShown(id) {
      for (const row of findAll(list, "[data-row]")) {
        const link = find(row, "[data-open]");
        if (row.dataset.id === id) link?.setAttribute("aria-current", "true");
        else link?.removeAttribute("aria-current");
      }
    },
    edit: () => find(side, "[data-key=edit]")?.click(),
    focusRow: (id) => find(
      findAll(list, "[data-row]").find((row) => row.dataset.id === id), "[data-open]")?.focus(),
    focusBulk: () => find(bulk, "button")?.focus(),
  };
}
