// One line of the queue for each operation: what it does, where it is, why, and when it is tried next.

import { fill, h, joined } from "./dom.js";
import { distance, time } from "./formats.js";
import { stateTag } from "./queue-rendering.js";
import { titleOf } from "./queue-state.js";
import { words } from "./words.js";

/**
 * The line of an operation; `hash(operation)` is its address. Gives `{element, update(operation)}`.
 * @param {OperationSummary} first
 */
export function operationRow(first, { hash, isShown, isPicked, onPick }) {
  let row = first;
  const box = h("input", { type: "checkbox", onchange: () => onPick(row, box.checked) });
  const content = h("div", { class: "content" });
  const element = h("li", { "data-row": true }, box, content);
  function update(operation) {
    row = operation;
    element.dataset.state = operation.state;
    element.dataset.id = operation.id;
    box.checked = isPicked(operation);
    box.setAttribute("aria-label", words.pick(titleOf(operation)));
    const hadFocus = content.contains(document.activeElement);
    const link = h("a", {
      href: hash(operation), "data-open": true, "aria-current": isShown(operation) ? "true" : null,
    }, h("span", { class: "kind" }, words.kind[operation.kind] ?? operation.kind), " ",
    h("strong", {}, titleOf(operation)));
    fill(content,
      h("div", { class: "line" }, link, stateTag(operation.state)),
      h("div", { class: "quiet-text" }, joined(...facts(operation))));
    if (hadFocus) link.focus();
  }
  update(first);
  return { element, update };
}

/** @param {OperationSummary} operation */
function facts(operation) {
  const next = operation.state === "waiting" && operation.nextAttemptAt;
  return [
    operation.table,
    operation.reason,
    operation.attempts ? words.attempts(operation.attempts) : words.notTried,
    next && `${words.nextTryLabel} ${distance(next)}`,
    time(operation.createdAt),
  ];
}
