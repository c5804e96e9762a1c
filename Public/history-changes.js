// The changes of the history: sent, received, merged, decided, by whom; with undo where an entry can be
// undone, and a search. The state is in history-state.js.

import { operator, query } from "./api.js";
import { coalesce } from "./coalesce.js";
import { button, facts, fill, h, joined, keepFocus, keyed, onFirstClick, refill } from "./dom.js";
import { time } from "./formats.js";
import {
  begin, changedFields, sinceLastLook, titleOf, withLatest, withMore, withSearch, withUndone,
} from "./history-state.js";
import { attempt, mayUndo, toast } from "./messages.js";
import { words } from "./words.js";
import { runWords } from "./words-overview.js";

const pageSize = 100;
const seenKey = "understudy-history-seen";

/** @type {HistoryPart} */
export function changesPart(place, asked) {
  let state = begin(Number(localStorage.getItem(seenKey)), asked.parameters.get("q") ?? "");
  const page = changesPage(place, { more: () => attempt(loadMore), undo, search });

  const path = (after) => /** @type {const} */ (`/history${query({ q: state.q, limit: pageSize, after })}`);

  async function load() {
    const { q } = state;
    const latest = await operator.get(path(null));
    if (q !== state.q) return; // Another text is searched for meanwhile.
    state = withLatest(state, latest);
    page.draw(state);
  }

  async function loadMore() {
    const { q, next } = state;
    const earlier = await operator.get(path(next));
    // Another text is searched for meanwhile, or a second click asked for the same page.
    if (q !== state.q || next !== state.next) return;
    state = withMore(state, earlier);
    page.draw(state);
  }

  function search(q) {
    state = withSearch(state, q);
    history.replaceState(null, "", `#/history${query({ q })}`);
    refresh();
  }

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
  page.drawSearch(state.q);
  refresh();
  return {
    refresh,
    navigate(next) {
      const q = next.parameters.get("q") ?? "";
      if (q === state.q) return;
      page.drawSearch(q);
      state = withSearch(state, q);
      refresh();
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
function changesPage(place, { more, undo, search }) {
  const field = h("input", {
    type: "search", "aria-label": runWords.search, placeholder: runWords.searchHint,
    oninput: () => search(field.value.trim()),
  });
  const count = h("span", { class: "count", role: "status" });
  const away = h("p", { class: "card away", hidden: true });
  const list = h("ol", { class: "history" });
  const empty = h("p", { class: "empty", hidden: true });
  const moreButton = button({ hidden: true, onclick: more }, words.more);
  fill(place, h("div", { class: "bar tight" }, field, count), away, list, empty, moreButton);

  function draw(state) {
    keepFocus(list, field, () =>
      keyed(list, state.entries, (entry) => entry.id, (first) => entryRow(first, state.seen, undo)));
    empty.hidden = state.entries.length > 0;
    refill(empty, state.q ? words.nothingMatches : words.noHistory);
    refill(count, runWords.found(state.total));
    moreButton.hidden = !state.next;
    drawAway(state);
  }

  function drawAway(state) {
    const { counts, isAll } = sinceLastLook(state);
    away.hidden = state.seen === 0 || counts.length === 0 || state.q !== "";
    const count = ([kind, many]) => words.awayCount(words.historyKind[kind] ?? kind, many);
    refill(away,
      h("strong", {}, isAll ? words.whileAway : words.whileAwayMost(state.entries.length)), " ",
      counts.map(count).join(", "));
  }

  return { draw, drawSearch: (q) => (field.value = q) };
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
        entry.imported && words.imported,
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
