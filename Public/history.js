// The history: sent, received, merged, decided, by whom; with undo where an entry can be undone.
// The state is in history-state.js, the charts are in charts.js.

import { operator } from "./api.js";
import { charts } from "./charts.js";
import { coalesce } from "./coalesce.js";
import { button, facts, fill, h, joined, keyed } from "./dom.js";
import { time } from "./formats.js";
import {
  begin, changedFields, sinceLastLook, titleOf, withLatest, withMore, withUndone,
} from "./history-state.js";
import { attempt, toast } from "./messages.js";
import { views, words } from "./words.js";

const pageSize = 100;
const chartSeconds = 3 * 60 * 60;
const seenKey = "understudy-history-seen";

/** @type {ViewMaker} */
export function historyView(main) {
  let state = begin(Number(localStorage.getItem(seenKey)));
  const page = historyPage(main, { more: () => attempt(loadMore), undo });

  async function load() {
    // The charts come with the first page. Later they would move the text that a person reads.
    const [latest] = await Promise.all([
      operator.get(`/history?limit=${pageSize}`),
      page.hasCharts() ? null : loadCharts(),
    ]);
    state = withLatest(state, latest);
    page.drawAway(state);
    page.draw(state);
  }

  async function loadMore() {
    const after = encodeURIComponent(state.next ?? "");
    state = withMore(state, await operator.get(`/history?limit=${pageSize}&after=${after}`));
    page.draw(state);
  }

  async function loadCharts() {
    const { items } = await operator.get(`/samples?sinceSeconds=${chartSeconds}`);
    page.drawCharts(charts(items));
  }

  async function undo(entry) {
    await attempt(async () => {
      await operator.post(`/history/${encodeURIComponent(entry.id)}/undo`);
      state = withUndone(state, entry.id);
      toast(words.undone);
      page.draw(state);
    });
    refresh();
  }

  const refresh = coalesce(() => attempt(load), 120);
  const refreshCharts = coalesce(() => loadCharts().catch(() => {}), 400);
  const remember = () => localStorage.setItem(seenKey, String(state.newest));
  addEventListener("pagehide", remember);
  refresh();
  return {
    refresh,
    onEvent(kind) {
      if (kind === "status") return;
      refresh();
      refreshCharts();
    },
    onLeave() {
      removeEventListener("pagehide", remember);
      remember();
    },
  };
}

/** Builds the page in `main`. Gives a function for each part that draws it from what is known. */
function historyPage(main, { more, undo }) {
  const charts = h("div", { class: "charts" });
  const away = h("p", { class: "card away", hidden: true });
  const list = h("ol", { class: "history" });
  const empty = h("p", { class: "empty", hidden: true }, words.noHistory);
  const moreButton = button({ hidden: true, onclick: more }, words.more);
  fill(main, h("section", { class: "page medium" },
    h("h1", {}, views.history), away, charts, list, empty, moreButton));

  function draw(state) {
    keyed(list, state.entries, (entry) => entry.id, (first) => entryRow(first, state.seen, undo));
    empty.hidden = state.entries.length > 0;
    moreButton.hidden = !state.next;
  }

  function drawAway(state) {
    const { counts, isAll } = sinceLastLook(state);
    away.hidden = state.seen === 0 || counts.length === 0;
    const count = ([kind, many]) => words.awayCount(words.historyKind[kind] ?? kind, many);
    fill(away,
      h("strong", {}, isAll ? words.whileAway : words.whileAwayMost(state.entries.length)), " ",
      counts.map(count).join(", "));
  }

  return {
    draw, drawAway,
    hasCharts: () => charts.firstChild !== null,
    drawCharts: (drawn) => fill(charts, drawn),
  };
}

/** @param {HistoryEntry} first */
function entryRow(first, seen, undo) {
  const element = h("li", { "data-row": true, tabindex: "-1" });
  /** @param {HistoryEntry} entry */
  const update = (entry) => {
    const title = titleOf(entry);
    element.classList.toggle("new", seen > 0 && entry.id > seen);
    fill(element,
      h("div", { class: "line" },
        h("span", {},
          h("span", { class: `tag ${entry.kind}` }, words.historyKind[entry.kind] ?? entry.kind), " ",
          title && h("strong", { dir: "auto" }, title, ": "),
          entry.summary),
        entry.undoable && !entry.undoneBy && button({
          class: "small",
          "aria-label": `${words.undo}: ${entry.summary} ${title}`,
          onclick: () => undo(entry),
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
