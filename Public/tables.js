// Every table: its rows with any columns, its policies, and what a client would ask this server.

import { operator, query, tables as rest } from "./api.js";
import { apiPreview } from "./api-preview.js";
import { ask } from "./dialog.js";
import { readable } from "./diff.js";
import { coalesce, fill, h, toast } from "./dom.js";
import { distance, number, time } from "./formats.js";
import { currentRow } from "./keys.js";
import { rowEditor } from "./row-editor.js";
import { cancel, follow, progress, sentence } from "./runs.js";
import { tablePolicies } from "./table-policies.js";
import { views, words } from "./words.js";

const pageSize = 100;
const columnsMost = 8;
const system = ["createdAt", "updatedAt", "version", "deleted"];

export function tablesView(main, asked) {
  let wish = read(asked);
  let skip = 0;
  let known = [];
  let answer = { items: [], total: 0, next: null };
  let run = null;

  const choices = h("ul", { class: "table-list", "aria-label": words.tables });
  const head = h("div", {});
  const search = h("input", { type: "search", spellcheck: "false", placeholder: words.filterExample, "aria-describedby": "filter-error" });
  const orderby = h("input", { spellcheck: "false", placeholder: words.orderExample });
  const deleted = h("input", { type: "checkbox", onchange: () => go({ deleted: deleted.checked ? "yes" : "" }) });
  const wrong = h("p", { id: "filter-error", class: "attention", hidden: true });
  const form = h("form", { class: "bar filters", onsubmit: (event) => (event.preventDefault(), go({ filter: search.value, orderby: orderby.value })) },
    h("label", { class: "wide" }, words.filterRows, search), h("label", { class: "wide" }, words.orderRows, orderby), h("button", {}, words.applyFilter), h("label", { class: "switch" }, deleted, words.showDeleted));
  const grid = h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": words.rows });
  const paging = h("div", { class: "bar" });
  const side = h("div", { class: "side" });
  const preview = h("div", {});
  const body = h("div", { hidden: true }, head, form, wrong, h("div", { class: "split narrow" }, h("div", {}, grid, paging), side), preview);
  fill(main, h("section", { class: "page wide" }, h("h1", {}, views.tables), choices, body));

  function read(route) {
    const at = (name) => route.parameters.get(name) ?? "";
    return { table: route.rest[0] ?? "", filter: at("filter"), orderby: at("orderby"), deleted: at("deleted"), id: at("id") };
  }

  const hash = (wanted) => `#/tables/${encodeURIComponent(wanted.table)}` + query({ filter: wanted.filter, orderby: wanted.orderby, deleted: wanted.deleted, id: wanted.id });

  function go(change) {
    wish = { ...wish, ...change };
    if (!("id" in change)) skip = 0;
    history.replaceState(null, "", hash(wish));
    fill(side);
    refresh();
  }

  async function load() {
    known = (await operator.get("/tables")).items;
    wish.table ||= (known.find((table) => table.items > 0) ?? known[0])?.name ?? "";
    const table = known.find((one) => one.name === wish.table);
    drawTables();
    if (!table) return void (body.hidden = true);
    drawHead(table);
    if (document.activeElement !== search) search.value = wish.filter;
    if (document.activeElement !== orderby) orderby.value = wish.orderby;
    deleted.checked = wish.deleted === "yes";
    const parameters = { filter: wish.filter, orderby: wish.orderby };
    fill(preview, apiPreview(table.name, parameters));
    try {
      answer = await operator.get(`/tables/${encodeURIComponent(table.name)}/items` + query({ ...parameters, includeDeleted: wish.deleted === "yes" ? "true" : "", skip, top: pageSize }));
      wrong.hidden = true;
    } catch (problem) {
      fill(wrong, problem.message);
      wrong.hidden = body.hidden = false;
      return;
    }
    drawRows();
    body.hidden = false;
    if (wish.id && !side.firstChild) openRow(answer.items.find((row) => row.item.id === wish.id));
  }

  function drawTables() {
    if (!known.length) return fill(choices, h("li", { class: "empty" }, words.noTables(location.origin)));
    fill(choices, known.map((table) => h("li", {},
      h("a", { href: hash({ table: table.name }), "aria-current": table.name === wish.table ? "true" : null }, table.name, h("span", { class: "count" }, ` ${number(table.items)}`)))));
  }

  function drawHead(table) {
    const work = h("button", { type: "button", onclick: () => (run ? run.id && cancel(run) : pull(table)) }, run ? [h("span", { class: "spinner", "aria-hidden": "true" }), run.id ? progress(run) : words.syncing, h("span", { class: "stop" }, words.cancelSync)] : words.pull);
    if (head.contains(document.activeElement) && !run) return; // Somebody chooses a policy.
    fill(head,
      h("p", { class: "quiet-text" }, [
        words.rowCount(table.items), words.pendingCount(table.pending),
        table.isComplete ? words.complete : words.partial,
        table.lastPull ? words.pulled(distance(table.lastPull)) : words.neverPulled,
        words.idKind[table.idKind] ?? table.idKind, table.isPublic && words.isPublic,
        ...table.indexes.filter((index) => index.builtAt).map((index) => words.index(index.columns.join(", "))),
      ].filter(Boolean).join(" · ")),
      table.warning && h("p", { class: "notice warning" }, table.warning),
      table.setAside > 0 && setAsideRows(table),
      h("div", { class: "actions" }, work, h("button", { type: "button", onclick: () => purge(table) }, words.purge)),
      tablePolicies(table, refresh));
  }

  // The rows that cannot be taken, fetched when a person opens the list.
  function setAsideRows(table) {
    const list = h("ul", { class: "plain" });
    const details = h("details", { ontoggle: async () => {
      if (!details.open || list.firstChild) return;
      try {
        const { items } = await operator.get(`/tables/${encodeURIComponent(table.name)}/set-aside`);
        fill(list, items.map((row) => h("li", {}, h("strong", {}, row.id ?? words.noID), " ", row.reason, h("pre", { class: "scroll", tabindex: "0" }, row.text))));
      } catch (problem) {
        toast(problem.message);
      }
    } }, h("summary", {}, words.setAside(table.setAside)), list);
    return details;
  }

  async function pull(table) {
    run = { id: null };
    drawHead(table);
    try {
      const ended = await follow(`/tables/${encodeURIComponent(table.name)}/pull`, {}, (now) => {
        run = now;
        drawHead(table);
      });
      toast(sentence(ended));
    } catch (problem) {
      toast(problem.message);
    }
    run = null;
    refresh();
  }

  async function purge(table, refusal = "") {
    const path = `/tables/${encodeURIComponent(table.name)}/purge`;
    const filter = wish.filter ? { query: wish.filter } : {};
    if (!(await ask(words.purge, words.purgeAsk(table.name, wish.filter, refusal), words.purge))) return;
    try {
      const { purged, discarded } = await operator.post(path, { ...filter, force: refusal !== "" });
      toast(words.purged(purged, discarded));
    } catch (problem) {
      if (problem.code === "operations-open" && !refusal) return purge(table, problem.message);
      toast(problem.message);
    }
    refresh();
  }

  function drawRows() {
    const names = new Set(answer.items.flatMap((row) => Object.keys(row.item)));
    const columns = ["id", ...[...names].filter((name) => name !== "id" && !system.includes(name))].slice(0, columnsMost);
    const table = h("table", { class: "grid" },
      h("thead", {}, h("tr", {}, [...columns, "updatedAt"].map((name) => h("th", { scope: "col" }, name)), h("th", { scope: "col" }, words.whereColumn))),
      h("tbody", {}, answer.items.map((row) => gridRow(row, columns))));
    const focused = currentRow()?.dataset.id;
    fill(grid, answer.items.length ? table : h("p", { class: "empty" }, wish.filter ? words.nothingMatches : words.noRows));
    if (focused) [...grid.querySelectorAll("[data-row]")].find((row) => row.dataset.id === focused)?.querySelector("[data-open]")?.focus();
    const page = (label, to) => h("button", { type: "button", disabled: to === null, onclick: () => ((skip = to), refresh()) }, label);
    fill(paging, h("span", { class: "count" }, words.range(answer.total ? skip + 1 : 0, skip + answer.items.length, answer.total)),
      answer.total > pageSize && h("span", { class: "actions" }, page(words.previous, skip ? Math.max(0, skip - pageSize) : null), page(words.next, answer.next ? skip + pageSize : null)));
  }

  function gridRow(row, columns) {
    const cell = (name) => h("td", {}, short(row.item[name]));
    return h("tr", { "data-row": true, "data-id": row.item.id, class: row.item.deleted ? "done" : "" },
      h("th", { scope: "row" }, h("button", { type: "button", class: "link", "data-open": true, onclick: () => openRow(row) }, short(row.item.id))),
      columns.slice(1).map(cell), h("td", { class: "nowrap", title: row.item.updatedAt }, time(row.item.updatedAt)),
      h("td", {}, h("span", { class: `where ${row.state}` }, row.item.deleted ? words.deletedSide : (words.itemState[row.state] ?? row.state))));
  }

  function openRow(row) {
    if (!row) return;
    const table = wish.table;
    const close = () => (fill(side), grid.querySelector(`[data-open]`)?.focus());
    fill(side, rowEditor(row, {
      close,
      async save(changes) {
        await rest.update(table, row.item.id, changes);
        toast(words.saved);
        close();
        refresh();
      },
      async remove() {
        await rest.remove(table, row.item.id);
        toast(words.deleted(row.item.id), { label: words.undo, run: () => rest.undelete(table, row.item.id).then(refresh, (problem) => toast(problem.message)) });
        close();
        refresh();
      },
    }));
  }

  const refresh = coalesce(() => load().catch((problem) => toast(problem.message)), 100);
  refresh();
  return {
    refresh,
    keys: { e: () => currentRow()?.querySelector("[data-open]")?.click() },
    navigate(next) {
      if (next.rest[0] !== wish.table) fill(side);
      wish = read(next);
      skip = 0;
      refresh();
    },
    hear(kind, event) {
      if (kind === "run" || ((kind === "item" || kind === "operation") && event.table?.toLowerCase() === wish.table.toLowerCase())) refresh();
    },
  };
}

const lettersMost = 120;

/** A value in one cell: its beginning, where it is long. */
function short(value) {
  const text = readable(value) ?? "";
  return text.length > lettersMost ? `${text.slice(0, lettersMost)}…` : text;
}
