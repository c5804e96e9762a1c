// One todo: its tick, its text that is edited in place (edit.js), and where it is.

import { canWrite } from "../shared/api.js";
import { readable } from "../shared/diff.js";
import { button, fill, h, onFirstClick, refill } from "../shared/dom.js";
import { draft, draftOf } from "../shared/drafts.js";
import { textEdit } from "./edit.js";
import { dueColumnOf, isStandard } from "./source.js";
import { words } from "../shared/words.js";

export const titleOf = (row, source) => textOf(row.item[source.text]).trim() || words.untitled;

const textOf = (value) => (value === null ? "" : (readable(value) ?? ""));

/**
 * A row of the list, with the actions of actions.js.
 * @param {TableItem} first
 * @param {TodoSource} source
 * @returns {ListedRow}
 */
export function todoRow(first, source, { changed, complete, find, insert, remove, rename, save }) {
  let { id } = first.item;
  const draftName = () => draftOf.row(source.table, id, source.text);
  let row = first;
  /** @type {TextEdit | null} */
  let edit = null;
  let isSaving = false;
  let isMissing = false; // The list does not have the row where it was.
  const box = h("input", { type: "checkbox", disabled: !canWrite, "data-key": "tick", onchange: onTick });
  const text = button({
    class: "text", "data-open": true, "data-key": "edit", disabled: !canWrite, onclick: onEdit,
  });
  const due = h("span", { class: "due", hidden: true });
  const where = h("span", { class: "where" });
  const bin = button({
    class: "quiet", "data-key": "delete", onclick: onFirstClick(() => remove(row)),
  }, "×");
  const content = h("div", { class: "content", dir: "auto" }, text);
  const element = h("li", { "data-row": true }, source.done && box, content, due, where, canWrite && bin);

  // An id stays as it is, and so does what is no text.
  const canEdit = () =>
    canWrite && source.text !== "id" && typeof (row.item[source.text] ?? "") === "string";
  const isDone = () => source.done !== null && row.item[source.done] === true;
  const storedOf = (item) => ({ text: textOf(item[source.text]), version: item.version ?? null });

  async function onTick() {
    isSaving = true;
    const isStored = await complete(row, box.checked);
    isSaving = false;
    if (!isStored) box.checked = isDone();
  }

  function open() {
    edit = textEdit(storedOf(row.item), {
      name: draftName(),
      label: isStandard(source) ? words.todoText : source.text,
      storedOf,
      store: (text, version) => save(id, text, version),
      add: insert,
      move,
      end,
    });
    fill(content, edit.element);
    edit.update(storedOf(row.item)); // A draft may be older than the row.
  }

  /** The row goes on as another one: its insert was answered with another id, or it was added again. */
  function move(now) {
    if (now.id === id) return true;
    if (!rename(id, now.id)) return false;
    id = now.id;
    edit?.rename(draftName());
    return true;
  }

  function onEdit() {
    open();
    edit?.focus();
    edit?.select();
  }

  /** The field is closed; `item` is the row that it stored, if any. */
  function end(hadFocus, item) {
    edit = null;
    fill(content, text);
    show(item ? { ...row, item: { ...row.item, ...item } } : row);
    if (hadFocus) text.focus();
    changed(); // The list may have kept the row only for the edit.
  }

  /** The list has the row. */
  function update(model) {
    isMissing = false;
    show(model);
  }

  /** @param {TableItem} model */
  function show(model) {
    row = model;
    const title = titleOf(row, source);
    text.disabled = !canEdit();
    element.className = isDone() ? "done" : "";
    element.dataset.state = row.state;
    if (!isSaving) box.checked = isDone(); // What was clicked stays while it is being saved.
    box.setAttribute("aria-label", words.completeTodo(title));
    refill(text, title);
    text.setAttribute("aria-label", words.editTodo(title));
    bin.setAttribute("aria-label", words.deleteTodo(title));
    const day = row.item[dueColumnOf(row.item) ?? ""];
    due.hidden = typeof day !== "string" || day === "";
    refill(due, due.hidden ? "" : words.due(day));
    drawWhere(where, row);
    edit?.update(storedOf(row.item));
  }

  /** The list has the row no longer where it was: looks whether it is anywhere. */
  async function onMissing() {
    isMissing = true;
    const found = await find(id);
    // The list has it again, or it could not be read: then the next reading of the list asks again.
    if (!isMissing || found === undefined) return;
    const isThere = found !== null && move(found.item);
    if (isThere) show(found);
    edit?.miss(isThere);
  }

  show(first);
  if (draft.read(draftName()) !== null && canEdit()) {
    open();
    setTimeout(() => document.activeElement === document.body && edit?.focus());
  }
  return { element, update, isEdited: () => edit !== null, onMissing, leave: () => edit?.leave() };
}

function drawWhere(where, { state, operationState, operationId, reason }) {
  const shown = operationState === "sending" ? "sending" : state;
  const label = words.itemState[shown] ?? shown;
  const target = state === "conflict" ? `#/conflicts/${operationId}` : `#/queue/${operationId}`;
  where.className = `where ${shown}`;
  refill(where, operationId ? h("a", { href: target, title: reason ?? "" }, label) : label);
}
