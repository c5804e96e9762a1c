// The queue: every pending operation with its reason, and each one's whole story.

import { operator, query } from "./api.js";
import { coalesce, fill, h, keyed, toast } from "./dom.js";
import { operationDetail } from "./operation.js";
import { distance, number, time, words } from "./words.js";

const pageSize = 100;

export function queueView(main, asked, { status }) {
  let filter = read(asked);
  let limit = pageSize;
  let detail = null;
  let revision = null;
  const choice = h("select", { id: "queue-state", onchange: () => go({ state: choice.value }) },
    h("option", { value: "" }, words.openStates),
    Object.entries(words.operationState).map(([state, label]) => h("option", { value: state }, label)),
    h("option", { value: "all" }, words.allStates));
  const search = h("input", { id: "queue-search", type: "search", oninput: () => go({ q: search.value }) });
  const list = h("ul", { class: "operations" });
  const empty = h("p", { class: "empty", hidden: true });
  const more = h("button", { type: "button", hidden: true, onclick: () => ((limit += pageSize), refresh()) }, words.more);
  const ledger = h("p", { class: "quiet-text ledger" });
  const side = h("div", { class: "side" });
  const count = h("span", { class: "count" });
  fill(main, h("section", { class: "page wide" }, h("h1", {}, "Queue"),
    h("div", { class: "bar" },
      h("label", {}, "State ", choice), h("label", {}, `${words.search} `, search), count),
    h("div", { class: "split" }, h("div", {}, list, empty, more, ledger), side)));

  function read(route) {
    return { id: route.rest[0] ?? null, state: route.parameters.get("state") ?? "", q: route.parameters.get("q") ?? "" };
  }

  /** Changes the address, which is where the filter lives, so that every view can be shared. */
  function go(change) {
    const wanted = { ...filter, ...change };
    const hash = "#/queue" + (wanted.id ? `/${encodeURIComponent(wanted.id)}` : "") + query({ state: wanted.state, q: wanted.q });
    history.replaceState(null, "", hash);
    filter = wanted;
    refresh();
  }

  async function load() {
    if (choice.value !== filter.state) choice.value = filter.state;
    if (document.activeElement !== search) search.value = filter.q;
    const answer = await operator.get("/operations" + query({ state: filter.state, q: filter.q, limit }));
    keyed(list, answer.items, (operation) => operation.id, makeRow);
    fill(count, number(answer.total));
    empty.hidden = answer.items.length > 0;
    fill(empty, filter.state || filter.q ? words.nothingMatches : words.queueEmpty);
    more.hidden = !answer.next;
    drawLedger();
    await loadDetail();
  }

  function drawLedger() {
    const known = status();
    if (!known) return;
    const open = Object.values(known.queue).reduce((sum, one) => sum + one, 0);
    fill(ledger, words.ledger({ ...known.ledger, open }));
  }

  async function loadDetail() {
    if (!filter.id) {
      detail = null;
      return fill(side);
    }
    const operation = await operator.get(`/operations/${encodeURIComponent(filter.id)}`);
    revision = operation.summary.revision;
    const focusInside = side.contains(document.activeElement);
    fill(side, operationDetail(operation, { close: () => go({ id: null }), act }));
    if (detail !== filter.id || focusInside) side.querySelector("h2")?.focus();
    detail = filter.id;
  }

  async function act(path, sentence) {
    try {
      await operator.post(`/operations/${encodeURIComponent(filter.id)}/${path}`, { revision });
      toast(sentence);
    } catch (problem) {
      toast(problem.message);
    }
    refresh();
  }

  function makeRow(first) {
    const element = h("li", {});
    const update = (operation) => {
      element.dataset.state = operation.state;
      const title = operation.title ?? operation.itemId;
      const link = h("a", { href: `#/queue/${encodeURIComponent(operation.id)}` + query({ state: filter.state, q: filter.q }), "aria-current": operation.id === filter.id ? "true" : null },
        h("span", { class: "kind" }, words.kind[operation.kind] ?? operation.kind), " ", h("strong", {}, title));
      fill(element, h("div", {}, link, h("span", { class: `tag ${operation.state}` }, words.operationState[operation.state] ?? operation.state)),
        h("div", { class: "quiet-text" }, [
          operation.table,
          operation.reason,
          operation.attempts ? words.attempts(operation.attempts) : words.notTried,
          operation.nextAttemptAt && operation.state === "waiting" ? `${words.nextTryLabel} ${distance(operation.nextAttemptAt)}` : null,
          time(operation.createdAt),
        ].filter(Boolean).join(" · ")));
    };
    update(first);
    return { element, update };
  }

  const refresh = coalesce(() => load().catch((problem) => toast(problem.message)), 80);
  refresh();
  return {
    refresh,
    navigate(next) {
      filter = read(next);
      refresh();
    },
    hear(kind) {
      if (kind === "operation" || kind === "conflict" || kind === "run") refresh();
    },
  };
}
