// The changes of the history: sent, received, merged, decided, by whom; with undo where an entry can be
// undone, and filters by time, kind, actor, table and text. The state is in state.js.

import { operator, query } from "../shared/api.js";
import { coalesce } from "../shared/coalesce.js";
import {
  button, drawChoice, facts, fill, form, h, joined, keepFocus, keyed, onFirstClick, refill,
} from "../shared/dom.js";
import { downloads } from "../shared/download.js";
import { time } from "../shared/formats.js";
import {
  addressOf, begin, changedFields, filterOf, isFiltered, selectionOf, sinceLastLook, titleOf, withFilter,
  withLatest, withMore, withRefusal, withUndone,
} from "./state.js";
import { attempt, mayUndo, toast } from "../shared/messages.js";
import { words } from "../shared/words.js";
import { runWords } from "../overview/words.js";

const pageSize = 100;
const seenKey = "understudy-history-seen";

/** @type {HistoryPart} */
export function changesPart(place, asked, { status }) {
  let state = begin(Number(localStorage.getItem(seenKey)), filterOf(asked));
  /** @type {string[]} */
  let clients = []; // The names of those that have an address of their own.
  const path = (part) => /** @type {const} */ (`/history${query({ ...selectionOf(state.filter), ...part })}`);
  const page = changesPage(place, {
    more: () => attempt(loadMore), undo, go, pathOf: (format) => path({ format }),
  });

  async function load() {
    const { filter } = state;
    const latest = await operator.get(path({ limit: pageSize })).catch((problem) => {
      if (problem.status !== 400) throw problem;
      return problem;
    });
    if (filter !== state.filter) return; // Another one was chosen meanwhile.
    state = latest instanceof Error ? withRefusal(state, latest.message) : withLatest(state, latest);
    page.draw(state);
  }

  async function loadMore() {
    const { filter, next } = state;
    const earlier = await operator.get(path({ limit: pageSize, after: next }));
    // Another filter was chosen meanwhile, or a second click asked for the same page.
    if (filter !== state.filter || next !== state.next) return;
    state = withMore(state, earlier);
    page.draw(state);
  }

  /** Each choice is a step that Back undoes; a letter of a search is none. */
  function go(change) {
    const address = addressOf({ ...state.filter, ...change });
    if (address === addressOf(state.filter)) return;
    if ("q" in change) history.replaceState(null, "", address);
    else history.pushState(null, "", address);
    show({ ...state.filter, ...change });
  }

  function show(filter) {
    state = withFilter(state, filter);
    drawFilter();
    refresh();
  }

  const drawFilter = () => page.drawFilter(state.filter, status()?.tables ?? [], clients);

  async function undo(entry) {
    const path = /** @type {const} */ (`/history/${encodeURIComponent(entry.id)}/undo`);
    await attempt(async () => {
      // A decision that was sent does not open its conflict again.
      const isDecision = entry.kind === "resolved";
      if (isDecision && !(await mayUndo([await operator.post(path, { dryRun: true })]))) return;
      const { sentence } = await operator.post(path, {});
      state = withUndone(state, entry.id);
      toast(words.undone(sentence));
      page.draw(state);
    });
    refresh();
  }

  const refresh = coalesce(() => attempt(load), 120);
  const remember = () => localStorage.setItem(seenKey, String(state.newest));
  addEventListener("pagehide", remember);
  drawFilter();
  attempt(async () => {
    clients = (await operator.get("/access")).items.map(({ name }) => name);
    drawFilter();
  });
  refresh();
  return {
    refresh,
    navigate(next) {
      const filter = filterOf(next);
      if (addressOf(filter) !== addressOf(state.filter)) show(filter);
    },
    onEvent(kind) {
      if (kind !== "status") refresh();
    },
    onLeave() {
      removeEventListener("pagehide", remember);
      remember();
    },
  };
}

/** Builds the part in `place`. Gives a function for each part of it that draws it from what is known. */
function changesPage(place, { more, undo, go, pathOf }) {
  const search = h("input", {
    type: "search", "aria-label": runWords.search, placeholder: runWords.searchHint,
    oninput: () => go({ q: search.value.trim() }),
  });
  const applyWhen = () => go({ when: when.value.trim() });
  const when = h("input", {
    type: "search", placeholder: runWords.whenHint, list: "whens", "aria-describedby": "when-error",
    onchange: applyWhen,
  });
  const date = h("input", {
    type: "date", "aria-label": runWords.day, onchange: () => go({ when: date.value }),
  });
  const choice = (name, label) => {
    const select = h("select", { onchange: () => go({ [name]: select.value }) });
    return { select, label: h("label", {}, `${label} `, select) };
  };
  const [kind, by, table] =
    [choice("kind", runWords.what), choice("by", runWords.by), choice("table", words.table)];
  const refusal = h("p", { id: "when-error", class: "attention", hidden: true });
  const count = h("span", { class: "count", role: "status" });
  const found = h("div", { class: "bar tight" }, downloads(pathOf), count);
  const away = h("p", { class: "card away", hidden: true });
  const list = h("ol", { class: "history" });
  const empty = h("p", { class: "empty", hidden: true });
  const moreButton = button({ hidden: true, onclick: more }, words.more);
  fill(place,
    h("div", { class: "bar filters look-back" },
      search,
      form({ class: "when" }, applyWhen,
        h("label", {}, `${runWords.when} `, when),
        h("datalist", { id: "whens" }, runWords.whens.map((value) => h("option", { value }))),
        date),
      kind.label, by.label, table.label),
    refusal,
    found, away, list, empty, moreButton);

  /** @param {HistoryFilter} filter */
  function drawFilter(filter, tables, clients) {
    for (const [field, value] of /** @type {const} */ ([[search, filter.q], [when, filter.when]]))
      if (document.activeElement !== field) field.value = value;
    date.value = /^\d{4}-\d\d-\d\d$/.test(filter.when) ? filter.when : "";
    const all = ["", runWords.all];
    const named = clients.map((name) => [`client:${name}`, name]);
    drawChoice(kind.select, [all, ...Object.entries(words.historyKind)], filter.kind);
    drawChoice(by.select, [all, ...Object.entries(words.actor), ...named], filter.by);
    drawChoice(table.select, [all, ...tables.map(({ name }) => [name, name])], filter.table);
  }

  function draw(state) {
    refusal.hidden = !state.refusal;
    found.hidden = !refusal.hidden;
    refill(refusal, state.refusal.charAt(0).toUpperCase() + state.refusal.slice(1));
    keepFocus(list, state.refusal ? when : search, () =>
      keyed(list, state.entries, (entry) => entry.id, (first) => entryRow(first, state.seen, undo)));
    empty.hidden = state.entries.length > 0 || state.refusal !== "";
    refill(empty, isFiltered(state.filter) ? words.nothingMatches : words.noHistory);
    refill(count, !state.refusal && runWords.found(state.total, state.period));
    moreButton.hidden = !state.next;
    drawAway(state);
  }

  function drawAway(state) {
    const { counts, isAll } = sinceLastLook(state);
    away.hidden = state.seen === 0 || counts.length === 0 || isFiltered(state.filter);
    const count = ([kind, many]) => words.awayCount(words.historyKind[kind] ?? kind, many);
    refill(away,
      h("strong", {}, isAll ? words.whileAway : words.whileAwayMost(state.entries.length)), " ",
      counts.map(count).join(", "));
  }

  return { draw, drawFilter };
}

/** @param {HistoryEntry} first */
function entryRow(first, seen, undo) {
  const element = h("li", { "data-row": true, tabindex: "-1" });
  /** @param {HistoryEntry} entry */
  const update = (entry) => {
    const title = titleOf(entry);
    element.classList.toggle("new", seen > 0 && entry.id > seen);
    refill(element,
      h("div", { class: "line" },
        h("span", {},
          h("span", { class: `tag ${entry.kind}` }, words.historyKind[entry.kind] ?? entry.kind), " ",
          title && [h("strong", { dir: "auto" }, title), ": "],
          entry.summary),
        entry.undoable && !entry.undoneBy && button({
          class: "small",
          "aria-label": `${words.undo}: ${entry.summary} ${title}`,
          onclick: onFirstClick(() => undo(entry)),
        }, words.undo)),
      h("div", { class: "quiet-text" }, joined(
        time(entry.at),
        entry.client ?? words.actor[entry.actor] ?? entry.actor,
        entry.table,
        entry.undoneBy && words.wasUndone)),
      changes(entry));
  };
  update(first);
  return { element, update };
}

function changes(entry) {
  const fields = changedFields(entry);
  if (fields.length === 0) return null;
  const pairs = fields.map(({ name, from, to }) => [name, `${from ?? words.absent} → ${to ?? words.absent}`]);
  return h("details", {}, h("summary", {}, words.whatChanged), facts(pairs));
}
