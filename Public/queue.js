// The queue: what waits and why, by cause and one by one, and what can be done about all of it.

import { operator, query } from "./api.js";
import { coalesce, fill, h, keyed, toast } from "./dom.js";
import { currentRow } from "./keys.js";
import { operationDetail } from "./operation.js";
import { act as actOn, actOnAll, actOnEach } from "./queue-actions.js";
import { causes, operationRow } from "./queue-rows.js";
import { words } from "./words.js";

const pageSize = 100;
const names = ["state", "table", "q", "reason"];

export function queueView(main, asked, { status }) {
  let filter = read(asked);
  let limit = pageSize;
  let shown = null; // the id of the operation at the side
  let detail = null;
  let answer = { items: [], total: 0 };
  const picked = new Set();

  const state = h("select", { id: "queue-state", onchange: () => go({ state: state.value }) },
    h("option", { value: "" }, words.openStates),
    Object.entries(words.operationState).map(([name, label]) => h("option", { value: name }, label)),
    h("option", { value: "all" }, words.allStates));
  const table = h("select", { id: "queue-table", onchange: () => go({ table: table.value }) });
  const search = h("input", { id: "queue-search", type: "search", oninput: () => go({ q: search.value }) });
  const chip = h("p", { class: "chip", hidden: true });
  const groups = h("ul", { class: "causes" });
  const bulk = h("div", { class: "bar bulk", role: "group", "aria-label": words.bulk });
  const list = h("ul", { class: "operations" });
  const empty = h("p", { class: "empty", hidden: true });
  const more = h("button", { type: "button", hidden: true, onclick: () => ((limit += pageSize), refresh()) }, words.more);
  const ledger = h("p", { class: "quiet-text ledger" });
  const side = h("div", { class: "side" });
  fill(main, h("section", { class: "page wide" }, h("h1", {}, "Queue"),
    h("div", { class: "bar filters" },
      h("label", {}, `${words.state} `, state), h("label", {}, `${words.table} `, table), h("label", {}, `${words.search} `, search)),
    chip, groups, bulk,
    h("div", { class: "split" }, h("div", {}, list, empty, more, ledger), side)));

  function read(route) {
    return { id: route.rest[0] ?? null, ...Object.fromEntries(names.map((name) => [name, route.parameters.get(name) ?? ""])) };
  }

  const asQuery = (wanted) => query(Object.fromEntries(names.map((name) => [name, wanted[name]])));
  const hash = (wanted) => "#/queue" + (wanted.id ? `/${encodeURIComponent(wanted.id)}` : "") + asQuery(wanted);

  /** Changes the address, which is where the filter lives, so that every view can be shared. */
  function go(change) {
    filter = { ...filter, ...change };
    if (!("id" in change)) limit = pageSize;
    history.replaceState(null, "", hash(filter));
    refresh();
  }

  async function load() {
    const parts = await Promise.all([
      operator.get("/operations" + query({ ...parameters(), limit: Math.min(limit, 500) })),
      operator.get("/operations/groups" + query({ ...parameters(), limit: 8 })),
      operator.get("/tables"),
    ]);
    answer = parts[0];
    drawFilter(parts[2].items);
    fill(groups, causes(parts[1].items, filter, go));
    keyed(list, answer.items, (operation) => operation.id, (first) =>
      operationRow(first, { hash: (operation) => hash({ ...filter, id: operation.id }), isShown: (operation) => operation.id === filter.id, picked, onPick: drawBulk }));
    for (const id of picked) if (!answer.items.some((one) => one.id === id)) picked.delete(id);
    drawBulk();
    empty.hidden = answer.items.length > 0;
    fill(empty, !empty.hidden && (asQuery(filter) ? words.nothingMatches : words.queueEmpty));
    more.hidden = !answer.next || limit >= 500;
    drawLedger();
    await loadDetail();
  }

  const parameters = () => Object.fromEntries(names.map((name) => [name, filter[name]]));

  function drawFilter(tables) {
    if (state.value !== filter.state) state.value = filter.state;
    if (document.activeElement !== search) search.value = filter.q;
    if (document.activeElement !== table) {
      fill(table, h("option", { value: "" }, words.allTables), tables.map((one) => h("option", { value: one.name }, one.name)));
      table.value = filter.table;
    }
    chip.hidden = !filter.reason;
    fill(chip, `${words.reason}: ${filter.reason} `, h("button", { type: "button", class: "small", onclick: () => go({ reason: "" }) }, words.removeFilter));
  }

  function drawBulk() {
    const some = picked.size;
    bulk.hidden = answer.total === 0;
    const all = (action) => actOnAll(action, parameters()).then(refresh);
    const each = (action) => actOnEach(action, answer.items.filter((one) => picked.has(one.id))).then(() => (picked.clear(), refresh()));
    fill(bulk, h("span", { class: "count" }, some ? words.picked(some) : words.matching(answer.total)),
      h("span", { class: "actions" },
        h("button", { type: "button", onclick: () => (some ? each("retry") : all("retry")) }, some ? words.retryPicked(some) : words.retryAll(answer.total)),
        h("button", { type: "button", onclick: () => (some ? each("discard") : all("discard")) }, some ? words.discardPicked(some) : words.discardAll(answer.total))));
  }

  function drawLedger() {
    const known = status();
    if (!known) return;
    const open = Object.values(known.queue).reduce((sum, one) => sum + one, 0);
    fill(ledger, words.ledger({ ...known.ledger, open }));
  }

  async function loadDetail() {
    if (!filter.id) {
      shown = detail = null;
      return fill(side);
    }
    if (shown === filter.id && side.querySelector("textarea")) return; // Somebody edits it.
    detail = await operator.get(`/operations/${encodeURIComponent(filter.id)}`);
    const focusInside = side.contains(document.activeElement);
    fill(side, operationDetail(detail, { close: () => go({ id: null }), act, saved: refresh }));
    if (shown !== filter.id || focusInside) side.querySelector("h2")?.focus();
    shown = filter.id;
  }

  const act = (action) => actOn(action, detail.summary).then(refresh);

  /** Does `work` to the operation of the row that has the focus, else to the one at the side. */
  const withCurrent = (work) => () => {
    const id = currentRow()?.dataset.id ?? filter.id;
    const operation = answer.items.find((one) => one.id === id);
    return operation ? void work(operation) : false;
  };

  const refresh = coalesce(() => load().catch((problem) => toast(problem.message)), 80);
  refresh();
  return {
    refresh,
    keys: {
      x: () => currentRow()?.querySelector("input[type=checkbox]")?.click(),
      "*": () => (picked.clear(), refresh(), bulk.querySelector("button")?.focus()),
      r: withCurrent((operation) => actOn("retry", operation).then(refresh)),
      "#": withCurrent((operation) => actOn("discard", operation).then(refresh)),
      e: withCurrent((operation) => (filter.id === operation.id ? side.querySelector("[data-key=edit]")?.click() : (location.hash = hash({ ...filter, id: operation.id })))),
    },
    navigate(next) {
      filter = read(next);
      refresh();
    },
    hear(kind) {
      if (kind === "operation" || kind === "conflict" || kind === "run") refresh();
    },
  };
}
