// What the queue view knows. The filter is in the address, so that it can be shared.
// Each function takes values and gives new ones.

import { query } from "../shared/api.js";
import { unsent } from "../shared/connection-state.js";

export const openStates = ["queued", "sending", "waiting", "unknown", "conflict", "quarantined"];
export const closedStates = ["done", "discarded", "collapsed"];

const names = ["state", "table", "q", "reason", "status", "attempts", "age", "sort"];

/** What of the filter goes when another state is chosen. */
const narrowing = { id: null, reason: "", status: "" };

/**
 * The filter that an address asks for; `id` is the operation at the side, or null.
 * @returns {QueueFilter}
 */
export function filterOf(route) {
  const asked = names.map((name) => [name, route.parameters.get(name) ?? ""]);
  return { id: route.rest[0] ?? null, ...Object.fromEntries(asked) };
}

/** The filter without the operation at the side. */
const parametersOf = (filter) => Object.fromEntries(names.map((name) => [name, filter[name]]));

export function addressOf(filter) {
  return "#/queue" + (filter.id ? `/${encodeURIComponent(filter.id)}` : "") + query(parametersOf(filter));
}

/** The address of a state, with the rest of the filter that is not about a cause. */
export const addressOfState = (filter, state) => addressOf({ ...filter, ...narrowing, state });

/**
 * The filter as the operator API names it. The age is counted from now.
 * @param {QueueFilter} filter
 */
export function selectionOf({ state, table, q, reason, status, attempts, age }, now = Date.now()) {
  const before = age ? new Date(now - Number(age) * 1000).toISOString() : "";
  return { state, table, q, reason, status, attempts, before };
}

/**
 * The same as the body of a bulk action has it. A filter that selects all open operations is empty, and that
 * all are meant is said beside it.
 * @param {QueueFilter} filter
 */
export function bodyOf(filter) {
  const { state, attempts, ...rest } = selectionOf(filter);
  /** @type {OperationFilter} */
  const body = Object.fromEntries(Object.entries(rest).filter(([, value]) => value));
  if (state && state !== "all") body.state = /** @type {OperationState[]} */ (state.split(","));
  if (attempts) body.attempts = Number(attempts);
  return { filter: body, ...(Object.keys(body).length === 0 && { all: true }) };
}

export const isFiltered = (filter) => query(selectionOf(filter)) !== "";

/** Whether two filters ask for the same list, whatever is at the side. */
export const isSameList = (one, other) => query(parametersOf(one)) === query(parametersOf(other));

/**
 * The filter that selects the operations of a cause.
 * @param {QueueFilter} filter
 * @param {OperationGroup} group
 */
export const ofCause = (filter, { state, status, reason }) =>
  ({ ...filter, id: null, state, status: String(status ?? "none"), reason });

/** What is known before anything was read. `known` and `picked` map an id to its operation. */
export const begin = (filter) => ({ filter, total: 0, known: new Map(), picked: new Map() });

/** Another filter keeps the picks only where the list stays the same. */
export function withFilter(state, filter) {
  return { ...state, filter, picked: isSameList(state.filter, filter) ? state.picked : new Map() };
}

/** The operations in the page were read again; a picked one is kept as it is now. */
export function withOperations(state, operations, total) {
  const picked = new Map(state.picked);
  for (const operation of operations) if (picked.has(operation.id)) picked.set(operation.id, operation);
  const known = new Map(operations.map((operation) => [operation.id, operation]));
  return { ...state, total, picked, known };
}

/** One operation was read, which may be outside of the page. */
export const withOperation = (state, operation) => ({
  ...state,
  known: new Map(state.known).set(operation.id, operation),
});

/** Operations were picked, or are no longer picked. */
export function withPicks(state, operations, isPicked) {
  const picked = new Map(state.picked);
  for (const operation of operations) {
    if (isPicked) picked.set(operation.id, operation);
    else picked.delete(operation.id);
  }
  return { ...state, picked };
}

export const withoutPicks = (state) => ({ ...state, picked: new Map() });

export const concerns = (kind) => kind === "operation" || kind === "conflict" || kind === "run";

export const titleOf = (operation) => operation.title ?? operation.itemId;

/**
 * The ledger of a status, with one number for all that is open.
 * @param {Status} status
 */
export const ledgerOf = (status) => ({ ...status.ledger, open: unsent(status) });
