// What happened: sent, received, merged, decided, by whom; with undo where it can be undone.

import { operator } from "./api.js";
import { coalesce, fill, h, keyed, toast } from "./dom.js";
import { time, words } from "./words.js";

const pageSize = 100;

/** What a person would call the item: its text, or whatever it has instead. */
function itemTitle(entry) {
  const item = entry.after ?? entry.before;
  return item?.text ?? item?.title ?? item?.name ?? entry.itemId;
}

export function historyView(main) {
  let limit = pageSize;
  const list = h("ol", { class: "history" });
  const empty = h("p", { class: "empty", hidden: true }, words.noHistory);
  const more = h("button", { type: "button", hidden: true, onclick: () => ((limit += pageSize), refresh()) }, words.more);
  fill(main, h("section", { class: "page" }, h("h1", {}, "History"), list, empty, more));

  async function load() {
    const answer = await operator.get(`/history?limit=${limit}`);
    keyed(list, answer.items, (entry) => entry.id, makeRow);
    empty.hidden = answer.items.length > 0;
    more.hidden = !answer.next;
  }

  async function undo(entry) {
    try {
      await operator.post(`/history/${encodeURIComponent(entry.id)}/undo`, {});
      toast(words.undone);
    } catch (problem) {
      toast(problem.message);
    }
    refresh();
  }

  function makeRow(first) {
    const element = h("li", {});
    const update = (entry) => fill(element,
      h("div", {}, h("span", { class: "tag" }, entry.kind), " ", itemTitle(entry) && h("strong", {}, itemTitle(entry), ": "), entry.summary),
      h("div", { class: "quiet-text" }, [time(entry.at), words.actor[entry.actor] ?? entry.actor, entry.table].filter(Boolean).join(" · ")),
      entry.undoable && h("button", { type: "button", class: "small", "aria-label": `${words.undo}: ${entry.summary}`, onclick: () => undo(entry) }, words.undo));
    update(first);
    return { element, update };
  }

  const refresh = coalesce(() => load().catch((problem) => toast(problem.message)), 120);
  refresh();
  return { refresh, hear: (kind) => kind !== "status" && refresh() };
}
