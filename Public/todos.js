// The todos: ten thousand as quick as ten; add, edit in place, complete and delete with undo.

import { canWrite, operator, query, tables } from "./api.js";
import { coalesce, fill, h, toast } from "./dom.js";
import { currentRow } from "./keys.js";
import { longList } from "./longlist.js";
import { draft, todoRow } from "./todo-row.js";
import { words } from "./words.js";

const table = "todoitem";
const showKey = "understudy-todos-show";
const sortKey = "understudy-todos-sort";
const open = "(complete eq false or complete eq null)";
const filters = { all: null, active: open, completed: "complete eq true" };
const orders = { newest: "createdAt desc", oldest: "createdAt", text: "text", due: "due" };

/** What OData takes for a text. */
const quoted = (text) => `'${text.replaceAll("'", "''")}'`;

export function todosView(main, asked, { toggleMode }) {
  let wish = read(asked);

  const input = h("input", { id: "new-todo", name: "text", autocomplete: "off", placeholder: words.newTodo, "aria-label": words.newTodo });
  const search = h("input", { type: "search", placeholder: words.search, "aria-label": words.searchTodos, oninput: () => go({ q: search.value }) });
  const shows = Object.entries(words.show).map(([name, label]) =>
    h("button", { type: "button", "data-show": name, onclick: () => go({ show: name }) }, label));
  const sort = h("select", { "aria-label": words.sort, onchange: () => go({ sort: sort.value }) },
    Object.entries(words.order).map(([name, label]) => h("option", { value: name, disabled: name === "due" }, label)));
  const left = h("span", { class: "count" });
  const list = h("div", { class: "todos" });
  const empty = h("p", { class: "empty", hidden: true });
  fill(main,
    h("section", { class: "page" }, h("h1", { class: "visually-hidden" }, "Todos"),
      canWrite ? h("form", { class: "add", onsubmit: add }, input, h("button", { class: "primary" }, words.add)) : h("p", { class: "quiet-text" }, words.onlyLooking),
      h("div", { class: "bar tight" }, h("div", { class: "segments", role: "group", "aria-label": words.showLabel }, shows), search, sort, left),
      list, empty));
  draft.keep(input, "new");

  const rows = longList(list, {
    keyOf: (row) => row.item.id,
    makeRow: (row) => todoRow(row, { complete, remove, save, canWrite }),
    load,
    onLoad: drawn,
    onError: (problem) => toast(problem.message),
  });
  const count = coalesce(() => countOpen().catch(() => {}), 120);

  function read(route) {
    const at = route.parameters;
    const known = (value, values, fallback) => (value in values ? value : fallback);
    return {
      show: known(at.get("show") ?? localStorage.getItem(showKey), filters, "all"),
      sort: known(at.get("sort") ?? localStorage.getItem(sortKey), orders, "newest"),
      q: at.get("q") ?? "",
    };
  }

  /** Changes the address, which is where the wish lives, so that every view can be shared. */
  function go(change) {
    wish = { ...wish, ...change };
    localStorage.setItem(showKey, wish.show);
    localStorage.setItem(sortKey, wish.sort);
    history.replaceState(null, "", "#/todos" + query({ show: wish.show === "all" ? "" : wish.show, sort: wish.sort === "newest" ? "" : wish.sort, q: wish.q }));
    controls();
    rows.restart();
  }

  function controls() {
    for (const button of shows) button.setAttribute("aria-pressed", button.dataset.show === wish.show);
    sort.value = wish.sort;
    if (document.activeElement !== search) search.value = wish.q;
  }

  async function load(skip, top) {
    const found = wish.q.trim() && `substringof(${quoted(wish.q.trim().toLowerCase())},tolower(text))`;
    const filter = [filters[wish.show], found].filter(Boolean).join(" and ");
    try {
      return await operator.get(`/tables/${table}/items` + query({ filter, orderby: orders[wish.sort], skip, top }));
    } catch (problem) {
      if (problem.code === "not-found") return { items: [], total: 0 }; // The first todo makes the table.
      throw problem;
    }
  }

  function drawn(models, total) {
    empty.hidden = total > 0;
    list.classList.toggle("bare", total === 0);
    fill(empty, total > 0 ? "" : wish.q ? words.nothingMatches : words.noTodos[wish.show]);
    if (models.some((row) => "due" in row.item)) sort.querySelector("[value=due]").disabled = false;
    count();
  }

  async function countOpen() {
    const answer = await operator.get(`/tables/${table}/items` + query({ filter: open, top: 0 }));
    fill(left, words.todosLeft(answer.total));
  }

  async function act(work) {
    try {
      return await work();
    } catch (problem) {
      toast(problem.message);
      return null;
    } finally {
      rows.refresh();
    }
  }

  async function add(event) {
    event.preventDefault();
    const text = input.value.trim();
    if (!text) return;
    input.value = "";
    const added = await act(() => tables.insert(table, { text, complete: false }));
    if (added) draft.forget("new");
    else input.value = text;
  }

  const save = (row, text) => act(() => tables.update(table, row.item.id, { text }));

  async function complete(row, done) {
    const { id, text } = row.item;
    if (!(await act(() => tables.update(table, id, { complete: done })))) return;
    const undo = { label: words.undo, run: () => act(() => tables.update(table, id, { complete: !done })) };
    toast((done ? words.completed : words.reopened)(text ?? words.untitled), undo);
  }

  async function remove(row) {
    const { id, text } = row.item;
    await act(async () => {
      await tables.remove(table, id);
      toast(words.deleted(text ?? words.untitled), { label: words.undo, run: () => act(() => tables.undelete(table, id)) });
    });
  }

  const press = (name) => () => currentRow()?.querySelector(`[data-key="${name}"]`)?.click() ?? undefined;
  controls();
  rows.refresh();
  return {
    refresh: rows.refresh,
    leave: rows.leave,
    keys: { e: press("edit"), x: press("tick"), "#": press("delete"), p: toggleMode, a: () => input.focus() },
    navigate(next) {
      wish = read(next);
      controls();
      rows.restart();
    },
    hear(kind, event) {
      if (kind === "item" || kind === "operation" || kind === "conflict") {
        if (!event.table || event.table.toLowerCase() === table) rows.refresh();
      }
    },
  };
}
