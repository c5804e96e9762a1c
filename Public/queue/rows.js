// One line of the queue for each operation: what it does, to which fields, where it is, how often it was
// tried and how old it is.

import { find, h, refill } from "../shared/dom.js";
import { draft, draftOf } from "../shared/drafts.js";
import { distance, oneLine, time } from "../shared/formats.js";
import { titleOf } from "./state.js";
import { unsavedMark } from "../shared/unsaved.js";
import { queueWords as said } from "./words.js";
import { words } from "../shared/words.js";

/**
 * The line of an operation; `hash(operation)` is its address. `onPick(operation, isPicked, isRange)` is told
 * of a pick, and whether it ends a range. Gives `{element, update(operation)}`.
 * @param {OperationSummary} first
 */
export function operationRow(first, { hash, isShown, isPicked, onPick }) {
  let row = first;
  let isRange = false; // Shift was held at the last press.
  const box = h("input", {
    type: "checkbox",
    onclick: (event) => (isRange = event.shiftKey),
    onchange: () => onPick(row, box.checked, isRange),
  });
  const content = h("div", { class: "content" });
  const element = h("li", { "data-row": true, onclick: onRow, onmousedown: onPress }, box, content);
  const link = () => find(content, "[data-open]");

  /** A click anywhere opens the operation; with Shift it ends a range. */
  function onRow(event) {
    if (event.target === box || getSelection()?.type === "Range") return;
    if (event.shiftKey) {
      event.preventDefault();
      onPick(row, true, true);
    } else if (!link()?.contains(event.target)) link()?.click();
  }

  function update(operation) {
    row = operation;
    element.dataset.state = operation.state;
    element.dataset.id = operation.id;
    box.checked = isPicked(operation);
    box.setAttribute("aria-label", said.pick(titleOf(operation)));
    refill(content,
      h("a", {
        href: hash(operation), "data-open": true, "aria-current": isShown(operation) ? "true" : null,
      }, h("span", { class: "kind" }, words.kind[operation.kind] ?? operation.kind), " ",
      h("strong", { dir: "auto" }, oneLine(titleOf(operation))),
      draft.read(draftOf.operation(operation.id)) && [" ", unsavedMark()]),
      h("span", { class: "quiet-text extra", title: operation.table }, fieldsOf(operation)),
      stateTag(operation.state, operation.reason ?? ""),
      h("span", { class: "quiet-text extra tries" },
        operation.attempts ? said.attempts(operation.attempts) : said.notTried),
      h("span", { class: "quiet-text extra age", title: time(operation.createdAt) },
        distance(operation.createdAt)));
  }
  update(first);
  return { element, update };
}

/** A press with Shift would mark text. */
function onPress(event) {
  if (event.shiftKey) event.preventDefault();
}

/** @param {OperationSummary} operation */
const fieldsOf = ({ table, kind, changedColumns }) =>
  (kind === "insert" || changedColumns.length === 0 ? table : `${table}: ${changedColumns.join(", ")}`);

/** Where an operation is, as a coloured word. */
export const stateTag = (state, title = "") =>
  h("span", { class: `tag ${state}`, title }, words.operationState[state] ?? state);

/** @param {OperationSummary[]} operations The rows that are printed in place of those on screen. */
export function printQueue(list, operations) {
  const rows = operations.map((operation) => operationRow(operation, {
    hash: () => null, isShown: () => false, isPicked: () => false, onPick() {},
  }).element);
  const printed = h("ul", { class: "operations printed" }, rows);
  list.after(printed);
  print();
  printed.remove();
}
