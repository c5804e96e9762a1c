// What happened: sent, received, merged, decided, by whom; with undo where it can be undone.

import { operator } from "./api.js";
import { charts } from "./charts.js";
import { readable } from "./diff.js";
import { coalesce, fill, h, keyed, toast } from "./dom.js";
import { time } from "./formats.js";
import { views, words } from "./words.js";

const pageSize = 100;
const titleMost = 80;
const seenKey = "understudy-history-seen";

/** What a person would call the item: its text, or whatever it has instead. */
function itemTitle(entry) {
  const item = entry.after ?? entry.before;
  const title = String(item?.text ?? item?.title ?? item?.name ?? entry.title ?? entry.itemId ?? "");
  return title.length > titleMost ? `${title.slice(0, titleMost)}…` : title;
}

export function historyView(main) {
  let entries = []; // the latest first, page after page
  let next = null;
  let newest = Number(localStorage.getItem(seenKey));
  const seen = newest;
  const drawing = h("div", { class: "charts" });
  const away = h("p", { class: "card away", hidden: true });
  const list = h("ol", { class: "history" });
  const empty = h("p", { class: "empty", hidden: true }, words.noHistory);
  const more = h("button", { type: "button", hidden: true, onclick: () => loadMore().catch((problem) => toast(problem.message)) }, words.more);
  fill(main, h("section", { class: "page medium" }, h("h1", {}, views.history), away, drawing, list, empty, more));

  async function load() {
    // The charts with the first page: later they would move what somebody reads.
    const [answer] = await Promise.all([operator.get(`/history?limit=${pageSize}`), drawing.firstChild ? null : loadCharts()]);
    newest = Math.max(newest, ...answer.items.map((entry) => entry.id));
    merge(answer);
    drawAway();
    draw();
  }

  /** Lays the latest page over what is shown; where they do not meet any more it begins anew. */
  function merge({ items, next: after }) {
    const oldest = items.at(-1)?.id;
    const older = entries.filter((entry) => entry.id < oldest);
    if (entries.length > 0 && items.some((entry) => entry.id === entries[0].id)) entries = [...items, ...older];
    else [entries, next] = [items, after];
  }

  async function loadMore() {
    const answer = await operator.get(`/history?limit=${pageSize}&after=${encodeURIComponent(next)}`);
    entries = [...entries, ...answer.items];
    next = answer.next;
    draw();
  }

  function draw() {
    keyed(list, entries, (entry) => entry.id, makeRow);
    empty.hidden = entries.length > 0;
    more.hidden = !next;
  }

  /** Counts what came since the last look at this view, until the page is left. */
  function drawAway() {
    const counts = new Map();
    for (const { id, kind, actor } of entries) if (id > seen && actor !== "person") counts.set(kind, (counts.get(kind) ?? 0) + 1);
    away.hidden = seen === 0 || counts.size === 0;
    const isAll = !next || entries.at(-1).id <= seen;
    fill(away, h("strong", {}, isAll ? words.whileAway : words.whileAwayMost(entries.length)), " ", [...counts].map(([kind, count]) => words.awayCount(words.historyKind[kind] ?? kind, count)).join(", "));
  }

  const loadCharts = async () => fill(drawing, charts((await operator.get("/samples?sinceSeconds=10800")).items));
  const drawCharts = coalesce(() => loadCharts().catch(() => {}), 400);

  async function undo(entry) {
    try {
      await operator.post(`/history/${encodeURIComponent(entry.id)}/undo`, {});
      entry.undoneBy = true;
      toast(words.undone);
      draw();
    } catch (problem) {
      toast(problem.message);
    }
    refresh();
  }

  function makeRow(first) {
    const element = h("li", { "data-row": true, tabindex: "-1" });
    const update = (entry) => {
      element.classList.toggle("new", seen > 0 && entry.id > seen);
      const title = itemTitle(entry);
      fill(element,
        h("div", { class: "line" },
          h("span", {}, h("span", { class: `tag ${entry.kind}` }, words.historyKind[entry.kind] ?? entry.kind), " ", title && h("strong", {}, title, ": "), entry.summary),
          entry.undoable && !entry.undoneBy && h("button", { type: "button", class: "small", "aria-label": `${words.undo}: ${entry.summary} ${title ?? ""}`, onclick: () => undo(entry) }, words.undo)),
        h("div", { class: "quiet-text" }, [time(entry.at), entry.client ?? words.actor[entry.actor] ?? entry.actor, entry.imported && words.imported, entry.table, entry.undoneBy && words.wasUndone].filter(Boolean).join(" · ")),
        changes(entry));
    };
    update(first);
    return { element, update };
  }

  const refresh = coalesce(() => load().catch((problem) => toast(problem.message)), 120);
  const remember = () => localStorage.setItem(seenKey, newest);
  addEventListener("pagehide", remember);
  refresh();
  return {
    refresh,
    hear: (kind) => kind !== "status" && (refresh(), drawCharts()),
    leave() {
      removeEventListener("pagehide", remember);
      remember();
    },
  };
}

/** The fields that an entry changed, before and after. */
function changes({ before, after }) {
  if (!before && !after) return null;
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])]
    .filter((name) => readable(before?.[name]) !== readable(after?.[name]));
  if (!names.length) return null;
  return h("details", {}, h("summary", {}, words.whatChanged),
    h("dl", { class: "facts" }, names.map((name) => [h("dt", {}, name), h("dd", {}, `${readable(before?.[name]) ?? words.absent} → ${readable(after?.[name]) ?? words.absent}`)])));
}
