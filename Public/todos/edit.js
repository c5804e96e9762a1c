// The text of a row while a person changes it: until it is stored, or the person gives it up.

import { h } from "../shared/dom.js";
import { draft } from "../shared/drafts.js";
import { edit } from "../shared/edit.js";
import { toast } from "../shared/messages.js";
import { editField } from "./edit-field.js";
import { editNote } from "./edit-note.js";
import { words } from "../shared/words.js";

const said = words.editing;
const quietMilliseconds = 400; // A save that takes longer is said.

/**
 * `stored` is the text with its version as the row has it. `store(text, version)` and `add(text)` may throw;
 * `move(row)` makes the edit one of another row; it gives whether it did. `end(hadFocus, row)` is called
 * once, with the row that was stored, if any.
 * @param {StoredText} stored
 * @param {TextEditParts} parts
 * @returns {TextEdit}
 */
export function textEdit(stored, { name, label, storedOf, store, add, move, end }) {
  const kept = draft.read(name);
  const { began, begin, keep, ...editing } = edit(name, /** @type {StoredText} */ (kept?.began ?? stored), {
    typed: (began) => (field.isDirty() ? { text: field.element.value, began } : null),
    nowOf: ({ row }) => (row && !row.deleted ? storedOf(row) : null),
    isSame: (now, began) => now.text === began.text,
  });
  /** @type {StoredText | null} */
  let theirs = null;
  let isGone = false;
  let isElsewhere = false; // The list has the row in another place, or not any more.
  let isSaving = false;
  let isSlow = false;
  let failure = "";
  let isOver = false;

  const field = editField(label, { onInput, onSave: save, onEscape: finish });
  const note = editNote(field.element, { addAsNew, keepMine, again: save, drop: () => finish() });
  const element = h("div", { class: "editing", tabindex: "-1", onfocusout }, field.element, note.element);
  const hasFocus = () => element.contains(document.activeElement);
  field.show(began().text);
  if (kept) field.retype(kept.text);

  function onInput() {
    keep();
    draw();
  }

  function onfocusout() {
    // A field that is taken out of the page or moved in it was not left by a person. It is known afterwards.
    setTimeout(() => document.hasFocus() && element.isConnected && !hasFocus() && save());
  }

  /** What was typed stays in the field until the proxy has answered that it is stored. */
  async function save() {
    if (isOver || isSaving) return;
    if (!field.isDirty() || field.isBlank()) {
      finish();
      return;
    }
    if (isGone || theirs) {
      note.repeat();
      return;
    }
    const text = field.typed();
    const sent = field.element.value;
    const item = await answerOf(() => editing.store((version) => store(text, version)));
    if (item) onStored(text, sent, item);
  }

  /** `sent` is the text as the field had it. */
  function onStored(text, sent, item) {
    const isWhole = field.typed() === text;
    if (isOver) {
      // The view was left meanwhile. What was typed after the save is a next edit.
      const kept = editing.kept();
      if (kept?.text === sent) editing.forget();
      else if (kept) editing.write({ ...kept, began: storedOf(item) });
    } else if (isWhole) {
      finish(item);
    } else {
      // The person typed on: that is a next edit.
      field.rebase(text);
      begin(storedOf(item));
      if (!hasFocus()) save();
    }
  }

  async function addAsNew() {
    if (isSaving) return;
    const text = field.typed();
    const sent = field.element.value;
    const item = await answerOf(() => add(text));
    if (!item) return;
    // What was typed on goes on in the new row, so that it is not added twice.
    if (field.element.value !== sent && move(item)) isGone = false;
    if (isOver || !isGone) onStored(text, sent, item);
    else finish();
    draw();
  }

  /** What `work` gives; null where it failed, which is said then. */
  async function answerOf(work) {
    [isSaving, failure] = [true, ""];
    const timer = setTimeout(() => {
      isSlow = true;
      draw();
    }, quietMilliseconds);
    try {
      return await work();
    } catch (problem) {
      if (problem.row && !problem.row.deleted) theirs = storedOf(problem.row);
      else if ([404, 410, 412].includes(problem.status)) isGone = true;
      else failure = problem.message;
      // The view was left, and its draft opens with it again; or the text was given up.
      if (isOver) toast(editing.kept() ? said.failedAway(problem.message) : said.notSaved(problem.message));
      return null;
    } finally {
      clearTimeout(timer);
      isSaving = isSlow = false;
      draw();
    }
  }

  /** @param {StoredText} now */
  function update(now) {
    if (isOver || isSaving) return; // The answer says more.
    isGone = isElsewhere = false;
    if (now.text === began().text) {
      theirs = null;
      begin(now);
    } else if (!field.isDirty() || now.text === field.typed()) {
      theirs = null;
      field.show(now.text);
      begin(now);
      if (!hasFocus()) finish(); // Nothing is typed, and the person is elsewhere.
    } else {
      theirs = now;
    }
    draw();
  }

  function keepMine() {
    const now = theirs ?? began();
    theirs = null;
    field.rebase(now.text);
    field.element.focus(); // The button leaves.
    begin(now);
    save();
  }

  /** @param {Item | null} [item] the row that was stored */
  function finish(item = null) {
    if (isOver) return;
    isOver = true;
    editing.forget();
    end(hasFocus(), item);
  }

  function draw() {
    if (!isOver) note.draw({ isSlow, isGone, isElsewhere, theirs, failure });
  }

  return {
    element,
    focus: () => field.element.focus(),
    select: () => field.element.select(),
    update,
    rename: editing.rename,
    /** The list does not have the row where it was; `isThere` says whether it is anywhere. */
    miss(isThere) {
      [isGone, isElsewhere] = [!isThere, isThere];
      draw();
    },
    /** The view is left. What was typed stays as a draft. */
    leave: () => void (isOver = true),
  };
}
