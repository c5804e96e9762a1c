// What the queue is made of: the causes, and one line for each operation.

import { fill, h } from "./dom.js";
import { distance, number, time } from "./formats.js";
import { words } from "./words.js";

export const titleOf = (operation) => operation.title ?? operation.itemId;

/** "37 waiting: the backend refused the connection", each a filter; nothing when one is chosen. */
export function causes(groups, filter, go) {
  if (filter.reason || groups.every((group) => group.count < 2)) return [];
  return groups.map((group) =>
    h("li", {}, h("button", { type: "button", onclick: () => go({ state: group.state, reason: group.reason }) },
      h("strong", {}, number(group.count)), h("span", { class: `tag ${group.state}` }, words.operationState[group.state] ?? group.state), h("span", { class: "cause" }, group.reason))));
}

/** One line: what it does, where it is, why, and when it is tried next. */
export function operationRow(first, { hash, isShown, picked, onPick }) {
  const element = h("li", { "data-row": true });
  let row = first;
  const box = h("input", { type: "checkbox", onchange: () => (box.checked ? picked.set(row.id, row) : picked.delete(row.id), onPick()) });
  const content = h("div", { class: "content" });
  fill(element, box, content);
  const update = (operation) => {
    row = operation;
    element.dataset.state = operation.state;
    element.dataset.id = operation.id;
    const title = titleOf(operation);
    box.checked = picked.has(operation.id);
    box.setAttribute("aria-label", words.pick(title));
    const hadFocus = content.contains(document.activeElement);
    const link = h("a", { href: hash(operation), "data-open": true, "aria-current": isShown(operation) ? "true" : null },
      h("span", { class: "kind" }, words.kind[operation.kind] ?? operation.kind), " ", h("strong", {}, title));
    const next = operation.state === "waiting" && operation.nextAttemptAt;
    fill(content,
      h("div", { class: "line" }, link, h("span", { class: `tag ${operation.state}` }, words.operationState[operation.state] ?? operation.state)),
      h("div", { class: "quiet-text" }, [
        operation.table,
        operation.reason,
        operation.attempts ? words.attempts(operation.attempts) : words.notTried,
        next ? `${words.nextTryLabel} ${distance(next)}` : null,
        time(operation.createdAt),
      ].filter(Boolean).join(" · ")));
    if (hadFocus) link.focus();
  };
  update(first);
  return { element, update };
}
