// The queue: what waits and why, by cause and one by one, and what can be done about all of it.

import { operator, query } from "./api.js";
import { coalesce, fill, focusCard, h, toast } from "./dom.js";
import { currentRow } from "./keys.js";
import { longList } from "./longlist.js";
import { operationDetail } from "./operation.js";
import { act as actOn, actOnAll, actOnEach } from "./queue-actions.js";
import { causes, operationRow } from "./queue-rows.js";
import { views, words } from "./words.js";

const causesMost = 8;
const rowPixels = 65;
const names = ["state", "table", "q", "reason"];

export function queueView(main, asked, { status }) {
  let filter = read(asked);
  let shown = null; // the id of the operation at the side
  let total = 0;
  const picked = new Map(); // id to operation
  const known = new Map(); // the operations in the page, by id

  const state = h("select", { id: "queue-state", onchange: () => go({ state: state.value }) },
    h("option", { value: "" }, words.openStates),
    Object.entries(words.operationState).map(([name, label]) => h("option", { value: name }, label)),
    h("option", { value: "all" }, words.allStates));
  const table = h("select", { id: "queue-table", onchange: () => go({ table: table.value }) });
  const search = h("input", { id: "queue-search", type: "search", placeholder: words.searchQueue, oninput: () => go({ q: search.value }) });
  const chip = h("p", { class: "chip", hidden: true });
  const groups = h("ul", { class: "causes" });
  const bulk = h("div", { class: "bar bulk", role: "group", "aria-label": words.bulk });
  const list = h("div", { class: "operations" });
  const empty = h("p", { class: "empty", hidden: true });
  const ledger = h("p", { class: "quiet-text ledger" });
  const side = h("div", { class: "side" });
  fill(main, h("section", { class: "page wide" }, h("h1", {}, views.queue),
    h("div", { class: "bar filters" },
      h("label", {}, `${words.state} `, state), h("label", {}, `${words.table} `, table), h("label", { class: "wide" }, `${words.search} `, search)),
    chip, groups, bulk,
    h("div", { class: "split" }, h("div", {}, list, empty, ledger), side)));

  const rows = longList(list, {
    keyOf: (operation) => operation.id,
    makeRow: (first) => operationRow(first, { hash: (operation) => hash({ ...filter, id: operation.id }), isShown: (operation) => operation.id === filter.id, picked, onPick: drawBulk }),
    load: (skip, top) => operator.get("/operations" + query({ ...parameters(), skip: skip || "", limit: top })),
    onLoad: drawn,
    onError: (problem) => toast(problem.message),
    rowPixels,
  });

  function read(route) {
    return { id: route.rest[0] ?? null, ...Object.fromEntries(names.map((name) => [name, route.parameters.get(name) ?? ""])) };
  }

  const parameters = () => Object.fromEntries(names.map((name) => [name, filter[name]]));
  const asQuery = (wanted) => query(Object.fromEntries(names.map((name) => [name, wanted[name]])));
  const hash = (wanted) => "#/queue" + (wanted.id ? `/${encodeURIComponent(wanted.id)}` : "") + asQuery(wanted);

  /** Changes the address, which is where the filter lives, so that every view can be shared. */
  function go(change) {
    filter = { ...filter, ...change };
    history.replaceState(null, "", hash(filter));
    show("id" in change);
  }

  /** Another filter begins at the top; another operation at the side leaves the list where it is. */
  function show(keepsList) {
    drawFilter();
    if (!keepsList) {
      picked.clear();
      rows.restart();
    } else rows.refresh();
    around();
    loadDetail().catch((problem) => toast(problem.message));
  }

  function drawn(models, count) {
    total = count;
    known.clear();
    for (const operation of models) {
      known.set(operation.id, operation);
      if (picked.has(operation.id)) picked.set(operation.id, operation);
    }
    list.classList.toggle("bare", total === 0);
    drawBulk();
    empty.hidden = total > 0;
    fill(empty, !empty.hidden && (asQuery(filter) ? words.nothingMatches : words.queueEmpty));
    drawLedger();
  }

  /** What stands around the list: the causes and the names of the tables. */
  async function loadAround() {
    const [found, tables] = await Promise.all([
      operator.get("/operations/groups" + query({ ...parameters(), limit: causesMost })),
      operator.get("/tables"),
    ]);
    fill(groups, causes(found.items, filter, go));
    drawTables(tables.items);
  }

  function drawFilter() {
    state.value = filter.state;
    if (document.activeElement !== search) search.value = filter.q;
    chip.hidden = !filter.reason;
    fill(chip, `${words.reason}: ${filter.reason} `, h("button", { type: "button", class: "small", onclick: () => go({ reason: "" }) }, words.removeFilter));
  }

  function drawTables(tables) {
    if (document.activeElement === table) return;
    const missing = filter.table && !tables.some((one) => one.name === filter.table) ? [{ name: filter.table }] : [];
    fill(table, h("option", { value: "" }, words.allTables), [...tables, ...missing].map((one) => h("option", { value: one.name }, one.name)));
    table.value = filter.table;
  }

  function drawBulk() {
    const some = picked.size;
    bulk.hidden = total === 0 && !some;
    const done = () => (picked.clear(), refresh());
    const all = (action) => actOnAll(action, parameters()).then(done);
    const each = (action) => actOnEach(action, [...picked.values()]).then(done);
    fill(bulk, h("span", { class: "count" }, some ? words.picked(some) : words.matching(total)),
      h("span", { class: "actions" },
        some > 0 && h("button", { type: "button", onclick: () => (picked.clear(), rows.refresh()) }, words.pickNone),
        h("button", { type: "button", onclick: () => (some ? each("retry") : all("retry")) }, some ? words.retryPicked(some) : words.retryAll(total)),
        h("button", { type: "button", onclick: () => (some ? each("discard") : all("discard")) }, some ? words.discardPicked(some) : words.discardAll(total))));
  }

  function drawLedger() {
    const now = status();
    if (!now) return;
    const open = Object.values(now.queue).reduce((sum, one) => sum + one, 0);
    fill(ledger, words.ledger({ ...now.ledger, open }));
  }

  async function loadDetail() {
    if (!filter.id) {
      shown = null;
      return fill(side);
    }
    if (shown === filter.id && side.querySelector("textarea")) return; // Somebody edits it.
    const wanted = filter.id;
    // An address may name what never was; what was shown and is gone closes the side.
    const detail = await operator.get(`/operations/${encodeURIComponent(wanted)}`).catch((problem) => {
      if (problem.status !== 404 || shown === wanted) throw problem;
      return null;
    });
    if (wanted !== filter.id) return; // Another one was opened meanwhile.
    if (!detail) return fill(side, h("p", { class: "empty" }, words.notFound(wanted)));
    const focusInside = side.contains(document.activeElement);
    const unfolded = [...side.querySelectorAll("details[open]")].map((one) => one.dataset.name);
    known.set(wanted, detail.summary);
    const act = (action) => actOn(action, detail.summary).then(refresh);
    fill(side, operationDetail(detail, { close: () => go({ id: null }), act, saved: () => (fill(side), refresh()) }));
    for (const one of side.querySelectorAll("details")) one.open = unfolded.includes(one.dataset.name);
    if (shown !== wanted || focusInside) focusCard(side);
    shown = wanted;
  }

  /** Does `work` to the operation of the row that has the focus, else to the one at the side. */
  const withCurrent = (work) => () => {
    const operation = known.get(currentRow()?.dataset.id ?? filter.id);
    return operation ? void work(operation) : false;
  };

  const around = coalesce(() => loadAround().catch((problem) => toast(problem.message)), 120);
  const atSide = coalesce(() => loadDetail().catch(() => go({ id: null })), 80);
  function refresh() {
    rows.refresh();
    around();
    atSide();
  }
  drawFilter();
  refresh();
  return {
    refresh,
    leave: rows.leave,
    keys: {
      x: () => currentRow()?.querySelector("input[type=checkbox]")?.click(),
      "*": () => (picked.clear(), rows.refresh(), bulk.querySelector("button")?.focus()),
      r: withCurrent((operation) => actOn("retry", operation).then(refresh)),
      "#": withCurrent((operation) => actOn("discard", operation).then(refresh)),
      e: withCurrent((operation) => (filter.id === operation.id ? side.querySelector("[data-key=edit]")?.click() : (location.hash = hash({ ...filter, id: operation.id })))),
    },
    navigate(next) {
      const before = asQuery(filter);
      filter = read(next);
      show(before === asQuery(filter));
    },
    hear(kind) {
      if (kind === "operation" || kind === "conflict" || kind === "run") refresh();
    },
  };
}
