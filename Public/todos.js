// The todos: add, edit in place, complete, delete with undo; each row says where it is.

import { operator, query, tables } from "./api.js";
import { coalesce, fill, h, keyed, toast } from "./dom.js";
import { words } from "./words.js";

const table = "todoitem";
const pageSize = 200;
const showCompletedKey = "understudy-show-completed";

export function todosView(main) {
  let rows = [];
  let next = null;
  let limit = pageSize;
  let showCompleted = localStorage.getItem(showCompletedKey) !== "no";

  const input = h("input", { id: "new-todo", name: "text", autocomplete: "off", placeholder: words.newTodo, "aria-label": words.newTodo });
  const form = h("form", { class: "add", onsubmit: add }, input, h("button", { class: "primary" }, words.add));
  const toggle = h("input", { type: "checkbox", checked: showCompleted, onchange: () => setShowCompleted(toggle.checked) });
  const left = h("span", { class: "count" });
  const list = h("ul", { class: "todos" });
  const empty = h("p", { class: "empty", hidden: true });
  const more = h("button", { type: "button", hidden: true, onclick: () => ((limit += pageSize), refresh()) }, words.more);
  fill(
    main,
    h("section", { class: "page" }, h("h1", { class: "visually-hidden" }, "Todos"), form,
      h("div", { class: "bar" }, left, h("label", { class: "switch" }, toggle, words.showCompleted)),
      list, empty, more),
  );

  async function load() {
    try {
      const answer = await operator.get(
        `/tables/${table}/items` + query({ filter: showCompleted ? null : "complete eq false or complete eq null", orderby: "createdAt desc", top: limit }),
      );
      rows = answer.items;
      next = answer.next;
    } catch (problem) {
      if (problem.code !== "not-found") throw problem;
      rows = []; // Nothing was written yet; the first todo makes the table.
      next = null;
    }
    draw();
  }

  function draw() {
    keyed(list, rows, (row) => row.item.id, makeRow);
    const open = rows.filter((row) => row.item.complete !== true).length;
    fill(left, words.todosLeft(open));
    empty.hidden = rows.length > 0;
    fill(empty, showCompleted ? words.noTodos : words.noneOpen);
    more.hidden = !next;
  }

  async function act(work) {
    try {
      return await work();
    } catch (problem) {
      toast(problem.message);
      return null;
    } finally {
      refresh();
    }
  }

  async function add(event) {
    event.preventDefault();
    const text = input.value.trim();
    if (!text) return;
    input.value = "";
    const added = await act(() => tables.insert(table, { text, complete: false }));
    if (!added) input.value = text;
  }

  function setShowCompleted(on) {
    showCompleted = on;
    localStorage.setItem(showCompletedKey, on ? "yes" : "no");
    refresh();
  }

  async function remove(row) {
    const { id, text } = row.item;
    await act(async () => {
      await tables.remove(table, id);
      toast(words.deleted(text ?? words.untitled), {
        label: words.undo,
        run: () => act(() => tables.undelete(table, id)),
      });
    });
  }

  function makeRow(first) {
    let row = first;
    let editing = false;
    const box = h("input", { type: "checkbox", onchange: () => act(() => tables.update(table, row.item.id, { complete: box.checked })) });
    const text = h("button", { type: "button", class: "text", onclick: edit });
    const where = h("span", { class: "where" });
    const bin = h("button", { type: "button", class: "quiet", onclick: () => remove(row) }, "×");
    const content = h("div", { class: "content" }, text);
    const element = h("li", {}, box, content, where, bin);

    function edit() {
      editing = true;
      const field = h("input", { class: "edit", value: row.item.text ?? "", "aria-label": words.todoText });
      let done = false;
      const finish = async (save) => {
        if (done) return;
        done = true;
        editing = false;
        const changed = field.value.trim();
        const hadFocus = field.contains(document.activeElement);
        fill(content, text);
        if (hadFocus) text.focus();
        if (save && changed && changed !== row.item.text) {
          await act(() => tables.update(table, row.item.id, { text: changed }));
        }
      };
      field.addEventListener("keydown", (event) => {
        if (event.key !== "Enter" && event.key !== "Escape") return;
        // Without this the same key press would also click the button that gets the focus next.
        event.preventDefault();
        finish(event.key === "Enter");
      });
      field.addEventListener("blur", () => finish(true));
      fill(content, field);
      field.focus();
      field.select();
    }

    function update(model) {
      row = model;
      const title = row.item.text ?? words.untitled;
      const done = row.item.complete === true;
      element.className = done ? "done" : "";
      element.dataset.state = row.state;
      box.checked = done;
      box.setAttribute("aria-label", words.completeTodo(title));
      if (!editing) {
        fill(text, title);
        text.setAttribute("aria-label", words.editTodo(title));
      }
      bin.setAttribute("aria-label", words.deleteTodo(title));
      const label = words.itemState[row.state] ?? row.state;
      const target = row.state === "conflict" ? `#/conflicts/${row.operationId}` : `#/queue/${row.operationId}`;
      where.className = `where ${row.state}`;
      fill(where, row.operationId ? h("a", { href: target, title: row.reason ?? "" }, label) : label);
    }

    update(first);
    return { element, update };
  }

  const refresh = coalesce(() => load().catch((problem) => toast(problem.message)));
  refresh();
  return {
    refresh,
    hear(kind, event) {
      if (kind === "item" || kind === "operation" || kind === "conflict") {
        if (!event.table || event.table.toLowerCase() === table) refresh();
      }
    },
  };
}
