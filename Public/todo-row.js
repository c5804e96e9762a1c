// One todo: its tick, its text that is edited in place, and where it is.

import { readable } from "./diff.js";
import { fill, h } from "./dom.js";
import { isStandard } from "./todo-source.js";
import { words } from "./words.js";

const key = (name) => `understudy-draft-${name}`;

/** Half-typed words outlive a reload of the tab. */
export const draft = {
  read: (name) => sessionStorage.getItem(key(name)),
  write: (name, text) => sessionStorage.setItem(key(name), text),
  forget: (name) => sessionStorage.removeItem(key(name)),
  keep(field, name) {
    field.value = draft.read(name) ?? field.value;
    field.addEventListener("input", () => (field.value ? draft.write(name, field.value) : draft.forget(name)));
  },
};

/** What a row is called: its text, whatever the column holds. */
export const titleOf = (row, source) => readable(row.item[source.text]) ?? words.untitled;

/** A row of the list; `source` names its columns (todo-list.js). `complete(row, done)`, `remove(row)` and `save(row, text)` do what it asks for. */
export function todoRow(first, { source, complete, remove, save, canWrite }) {
  let row = first;
  let editing = false;
  let ticking = false;
  const box = h("input", { type: "checkbox", disabled: !canWrite, "data-key": "tick", onchange: tick });
  const text = h("button", { type: "button", class: "text", "data-open": true, "data-key": "edit", disabled: !canWrite, onclick: () => edit() });
  // An id stays as it is, and so does what is no text.
  const isText = () => source.text !== "id" && typeof (row.item[source.text] ?? "") === "string";
  const due = h("span", { class: "due", hidden: true });
  const where = h("span", { class: "where" });
  const bin = h("button", { type: "button", class: "quiet", "data-key": "delete", onclick: () => remove(row) }, "×");
  const content = h("div", { class: "content" }, text);
  const element = h("li", { "data-row": true }, source.done && box, content, due, where, canWrite && bin);

  async function tick() {
    ticking = true;
    await complete(row, box.checked);
    ticking = false;
  }

  function edit(started) {
    editing = true;
    const id = row.item.id;
    const field = h("input", { class: "edit", value: started ?? row.item[source.text] ?? "", "aria-label": isStandard(source) ? words.todoText : source.text });
    field.addEventListener("input", () => draft.write(id, field.value));
    let done = false;
    const finish = async (save_) => {
      if (done) return;
      done = true;
      editing = false;
      draft.forget(id);
      const changed = field.value.trim();
      const hadFocus = field.contains(document.activeElement);
      fill(content, text);
      if (hadFocus) text.focus();
      if (save_ && changed && changed !== row.item[source.text]) await save(row, changed);
    };
    field.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== "Escape") return;
      // Without this the same key press would also click the button that gets the focus next.
      event.preventDefault();
      finish(event.key === "Enter");
    });
    field.addEventListener("blur", () => document.hasFocus() && finish(true));
    fill(content, field);
    field.focus();
    if (started === undefined) field.select();
  }

  function update(model) {
    row = model;
    const title = titleOf(row, source);
    const done = source.done !== null && row.item[source.done] === true;
    text.disabled = !canWrite || !isText();
    element.className = done ? "done" : "";
    element.dataset.state = row.state;
    // What was clicked stays while it is being saved.
    if (!ticking) box.checked = done;
    box.setAttribute("aria-label", words.completeTodo(title));
    if (!editing) {
      fill(text, title);
      text.setAttribute("aria-label", words.editTodo(title));
    }
    bin.setAttribute("aria-label", words.deleteTodo(title));
    const day = typeof row.item.due === "string" && row.item.due;
    due.hidden = !day;
    fill(due, day ? words.due(day) : "");
    const state = row.operationState === "sending" ? "sending" : row.state;
    const label = words.itemState[state] ?? state;
    const target = row.state === "conflict" ? `#/conflicts/${row.operationId}` : `#/queue/${row.operationId}`;
    where.className = `where ${state}`;
    fill(where, row.operationId ? h("a", { href: target, title: row.reason ?? "" }, label) : label);
  }

  update(first);
  const started = draft.read(row.item.id);
  if (started !== null && canWrite && isText()) setTimeout(() => edit(started));
  return { element, update };
}
