// One todo: its tick, its text that is edited in place, and where it is.

import { canWrite } from "./api.js";
import { readable } from "./diff.js";
import { button, fill, h } from "./dom.js";
import { dueColumnOf, isStandard } from "./todo-source.js";
import { words } from "./words.js";

const draftKey = (name) => `understudy-draft-${name}`;

/** Half-typed texts, kept over a reload of the tab. */
export const draft = {
  read: (name) => sessionStorage.getItem(draftKey(name)),
  write: (name, text) => sessionStorage.setItem(draftKey(name), text),
  forget: (name) => sessionStorage.removeItem(draftKey(name)),
  keep(field, name) {
    field.value = draft.read(name) ?? field.value;
    field.addEventListener("input", () =>
      field.value ? draft.write(name, field.value) : draft.forget(name));
  },
};

export const titleOf = (row, source) => readable(row.item[source.text]) ?? words.untitled;

/** A row of the list, with the actions of todo-actions.js. Gives `{element, update(row)}`. */
export function todoRow(first, source, { complete, remove, save }) {
  let row = first;
  let isEdited = false;
  let isSaving = false;
  const box = h("input", { type: "checkbox", disabled: !canWrite, "data-key": "tick", onchange: onTick });
  const text = button({
    class: "text", "data-open": true, "data-key": "edit", disabled: !canWrite, onclick: () => edit(),
  });
  const due = h("span", { class: "due", hidden: true });
  const where = h("span", { class: "where" });
  const bin = button({ class: "quiet", "data-key": "delete", onclick: () => remove(row) }, "×");
  const content = h("div", { class: "content", dir: "auto" }, text);
  const element = h("li", { "data-row": true }, source.done && box, content, due, where, canWrite && bin);

  // An id stays as it is, and so does what is no text.
  const canEdit = () =>
    canWrite && source.text !== "id" && typeof (row.item[source.text] ?? "") === "string";

  async function onTick() {
    isSaving = true;
    await complete(row, box.checked);
    isSaving = false;
  }

  function edit(started) {
    isEdited = true;
    const { id } = row.item;
    const field = editField(source, started ?? row.item[source.text] ?? "", async (isToBeSaved) => {
      isEdited = false;
      draft.forget(id);
      const changed = field.value.trim();
      const hadFocus = field.contains(document.activeElement);
      fill(content, text);
      if (hadFocus) text.focus();
      if (isToBeSaved && changed && changed !== row.item[source.text]) await save(row, changed);
    });
    field.addEventListener("input", () => draft.write(id, field.value));
    fill(content, field);
    field.focus();
    if (started === undefined) field.select();
  }

  /** @param {TableItem} model */
  function update(model) {
    row = model;
    const title = titleOf(row, source);
    const isDone = source.done !== null && row.item[source.done] === true;
    text.disabled = !canEdit();
    element.className = isDone ? "done" : "";
    element.dataset.state = row.state;
    if (!isSaving) box.checked = isDone; // What was clicked stays while it is being saved.
    box.setAttribute("aria-label", words.completeTodo(title));
    if (!isEdited) {
      fill(text, title);
      text.setAttribute("aria-label", words.editTodo(title));
    }
    bin.setAttribute("aria-label", words.deleteTodo(title));
    const day = row.item[dueColumnOf(row.item) ?? ""];
    due.hidden = typeof day !== "string" || day === "";
    fill(due, due.hidden ? "" : words.due(day));
    drawWhere(where, row);
  }

  update(first);
  const started = draft.read(row.item.id);
  if (started !== null && canEdit()) setTimeout(() => edit(started));
  return { element, update };
}

/** The field for a text. Enter and leaving it save, Escape does not; `finish(isToBeSaved)` is called once. */
function editField(source, value, finish) {
  const label = isStandard(source) ? words.todoText : source.text;
  const field = h("input", { class: "edit", dir: "auto", value, "aria-label": label });
  let isFinished = false;
  const finishOnce = (isToBeSaved) => {
    if (isFinished) return;
    isFinished = true;
    finish(isToBeSaved);
  };
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== "Escape") return;
    // Without this the same key press would also click the button that gets the focus next.
    event.preventDefault();
    finishOnce(event.key === "Enter");
  });
  field.addEventListener("blur", () => document.hasFocus() && finishOnce(true));
  return field;
}

function drawWhere(where, { state, operationState, operationId, reason }) {
  const shown = operationState === "sending" ? "sending" : state;
  const label = words.itemState[shown] ?? shown;
  const target = state === "conflict" ? `#/conflicts/${operationId}` : `#/queue/${operationId}`;
  where.className = `where ${shown}`;
  fill(where, operationId ? h("a", { href: target, title: reason ?? "" }, label) : label);
}
