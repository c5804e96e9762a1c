// What the tables view asks for. It is in the address, so that it can be shared.
// Each function takes values and gives new ones.

import { query } from "../shared/api.js";
import { readable } from "../shared/diff.js";
import { oneLine, shortened } from "../shared/formats.js";

export const systemColumns = ["id", "createdAt", "updatedAt", "version", "deleted"];

export const pageSize = 100;
const columnsMost = 7;
const lettersMost = 120;
const names = ["filter", "orderby", "deleted", "id"];

/** What an address asks for; `id` is the row at the side. */
export function questionOf(route) {
  const at = (name) => route.parameters.get(name) ?? "";
  const [filter, orderby, deleted, id] = names.map(at);
  return { table: route.rest[0] ?? "", filter, orderby, deleted, id };
}

export function addressOf(question) {
  const given = Object.fromEntries(names.map((name) => [name, question[name]]));
  return `#/tables/${encodeURIComponent(question.table ?? "")}${query(given)}`;
}

/**
 * Whether what was typed is an OData filter: it compares or calls. Anything else is a text that is searched
 * for. `le` and `ne` are words of languages too, so a value follows them.
 */
export const isOData = (text) =>
  /\s(eq|gt|ge|lt)(\s|$)|\s(ne|le)\s+(['\d-]|true|false|null|date|guid)|\sin\s*\(|[a-z]\(/i.test(text);

/** What selects the rows, as the operator API names it. */
export const selectionOf = ({ filter, orderby, deleted }) => ({
  ...(isOData(filter) ? { filter } : { q: filter }),
  orderby, includeDeleted: deleted === "yes" ? "true" : "",
});

/** The path of the rows of a table. */
export const pathOf = ({ table }, parameters) =>
  /** @type {const} */ (`/tables/${encodeURIComponent(table)}/items${query(parameters)}`);

/** The table to show where the address names none. */
export const firstTable = (tables) => (tables.find((table) => table.items > 0) ?? tables[0])?.name ?? "";

/**
 * The columns of some rows without those of the system.
 * @param {TableItem[]} rows
 */
export function columnsOf(rows) {
  const all = new Set(rows.flatMap((row) => Object.keys(row.item)));
  return [...all].filter((name) => !systemColumns.includes(name));
}

/** The columns that are shown until a person chooses. */
export const firstColumns = (all) => all.slice(0, columnsMost);

/** Whether `$orderby` can name a column. */
export const isSortable = (name) => /^[A-Za-z_][A-Za-z0-9_]*$/.test(name);

/**
 * How the rows are sorted by a column.
 * @returns {"asc" | "desc" | "none"}
 */
export function orderOf(orderby, name) {
  const [by, order] = orderby.trim().split(/\s+/);
  if (by !== name) return "none";
  return order?.toLowerCase() === "desc" ? "desc" : "asc";
}

/** The order after another click on the head of a column: up, down, and as the store has them. */
export function nextOrder(orderby, name) {
  const next = { none: name, asc: `${name} desc`, desc: "" };
  return next[orderOf(orderby, name)];
}

export const cellText = (value) => shortened(oneLine(readable(value) ?? ""), lettersMost);

export function concerns(kind, event, table) {
  if (kind === "run") return true;
  return (kind === "item" || kind === "operation") && event.table?.toLowerCase() === table.toLowerCase();
}
