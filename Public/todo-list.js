// The todos of one table: ten thousand as quick as ten; add, edit in place, complete and delete with undo.

import { canWrite, operator, query, tables } from "./api.js";
import { coalesce, fill, h, toast } from "./dom.js";
import { currentRow } from "./keys.js";
import { longList } from "./longlist.js";
import { draft, titleOf, todoRow } from "./todo-row.js";
import { isStandard } from "./todo-source.js";
import { words } from "./words.js";

const showKey = "understudy-todos-show";
const sortKey = "understudy-todos-sort";

/** What OData takes for a text. */
const quoted = (text) => `'${text.replaceAll("'", "''")}'`;

/**
 * Fills `main` with the rows of `source.table`. `source.text` and `source.done` name the columns that are the text and say
 * that a todo is done; `done` is null where none does. `loaded(rows, isThere)` hears what is shown and whether the table is
 * there; `isMissing()` says that there is no table at all so far.
 */
export function todoList(main, source, asked, { toggleMode, loaded, isMissing }) {
  const { table, text: textColumn, done: doneColumn } = source;
  const open = doneColumn && `(${doneColumn} eq false or ${doneColumn} eq null)`;
  const filters = { all: null, ...(doneColumn ? { active: open, completed: `${doneColumn} eq true` } : {}) };
  const orders = { newest: "createdAt desc", oldest: "createdAt", text: textColumn, due: "due" };
  const isOfTodos = isStandard(source);
  let wish = read(asked);
  let isThere = true;

  const inputLabel = isOfTodos ? words.newTodo : words.newIn(table);
  const input = h("input", { id: "new-todo", name: "text", autocomplete: "off", placeholder: inputLabel, "aria-label": inputLabel });
  const search = h("input", { type: "search", placeholder: words.search, "aria-label": isOfTodos ? words.searchTodos : words.searchIn(table), oninput: () => go({ q: search.value }) });
  const shows = Object.entries(words.show).filter(([name]) => name in filters).map(([name, label]) =>
    h("button", { type: "button", "data-show": name, onclick: () => go({ show: name }) }, label));
  const sort = h("select", { "aria-label": words.sort, onchange: () => go({ sort: sort.value }) },
    Object.entries(words.order).map(([name, label]) => h("option", { value: name, disabled: name === "due" }, label)));
  const left = h("span", { class: "count" });
  const list = h("div", { class: "todos" });
  const empty = h("p", { class: "empty", hidden: true });
  fill(main,
    canWrite ? h("form", { class: "add", onsubmit: add }, input, h("button", { class: "primary" }, words.add)) : h("p", { class: "quiet-text" }, words.onlyLooking),
    h("div", { class: "bar tight" }, doneColumn && h("div", { class: "segments", role: "group", "aria-label": words.showLabel }, shows), search, sort, left),
    list, empty);
  draft.keep(input, "new");

  const rows = longList(list, {
    keyOf: (row) => row.item.id,
    makeRow: (row) => todoRow(row, { source, complete, remove, save, canWrite }),
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
    const found = wish.q.trim() && `substringof(${quoted(wish.q.trim().toLowerCase())},tolower(${textColumn}))`;
    const filter = [filters[wish.show], found].filter(Boolean).join(" and ");
    try {
      const answer = await operator.get(`/tables/${encodeURIComponent(table)}/items` + query({ filter, orderby: orders[wish.sort], skip, top }));
      isThere = true;
      return answer;
    } catch (problem) {
      if (problem.code !== "not-found") throw problem;
      isThere = false;
      return { items: [], total: 0 }; // The first todo makes the table.
    }
  }

  function drawn(models, total) {
    empty.hidden = total > 0;
    list.classList.toggle("bare", total === 0);
    if (models.some((row) => "due" in row.item)) sort.querySelector("[value=due]").disabled = false;
    if (open) count();
    else fill(left, words.rowCount(total));
    loaded(models, isThere);
    redraw();
  }

  /** Says why the list is empty. */
  function redraw() {
    if (empty.hidden) return;
    const isAll = wish.show === "all";
    if (wish.q) fill(empty, words.nothingMatches);
    else if (isMissing() && isAll) fill(empty, words.noTableYet(location.origin, table));
    else fill(empty, isOfTodos || !isAll ? words.noTodos[wish.show] : words.noRows);
  }

  async function countOpen() {
    const answer = await operator.get(`/tables/${encodeURIComponent(table)}/items` + query({ filter: open, top: 0 }));
    fill(left, (isOfTodos ? words.todosLeft : words.openLeft)(answer.total));
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
    const added = await act(() => tables.insert(table, { [textColumn]: text, ...(doneColumn ? { [doneColumn]: false } : {}) }));
    if (added) draft.forget("new");
    else input.value = text;
  }

  const save = (row, text) => act(() => tables.update(table, row.item.id, { [textColumn]: text }));

  async function complete(row, done) {
    const { id } = row.item;
    if (!(await act(() => tables.update(table, id, { [doneColumn]: done })))) return;
    const undo = { label: words.undo, run: () => act(() => tables.update(table, id, { [doneColumn]: !done })) };
    toast((done ? words.completed : words.reopened)(titleOf(row, source)), undo);
  }

  async function remove(row) {
    const { id } = row.item;
    await act(async () => {
      await tables.remove(table, id);
      toast(words.deleted(titleOf(row, source)), { label: words.undo, run: () => act(() => tables.undelete(table, id)) });
    });
  }

  const press = (name) => () => currentRow()?.querySelector(`[data-key="${name}"]`)?.click() ?? undefined;
  controls();
  rows.refresh();
  return {
    source,
    redraw,
    refresh: rows.refresh,
    leave: rows.leave,
    keys: { e: press("edit"), x: press("tick"), "#": press("delete"), p: toggleMode, a: () => input.focus() },
    navigate(next) {
      wish = read(next);
      controls();
      rows.restart();
    },
  };
}
