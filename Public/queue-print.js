// Prints the queue: its causes and its first rows, also those that are not in the page.

import { h } from "./dom.js";
import { operationRow } from "./queue-rows.js";

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
