// What the conflicts view knows. Each function takes values and gives new ones.

import { query } from "../shared/api.js";

const names = /** @type {const} */ (["table", "q", "column", "actor", "age"]);

/** The filter that an address asks for. @returns {ConflictFilter} */
export const filterOf = ({ parameters }) =>
  /** @type {any} */ (Object.fromEntries(names.map((name) => [name, parameters.get(name) ?? ""])));

/**
 * `wanted` is the id that the address asks for, or null; `picked` has the ids of those that a person picked.
 * @param {Route} route
 * @returns {ConflictsState}
 */
export const begin = (route) => ({
  filter: filterOf(route), list: [], total: 0, index: 0, wanted: route.rest[0] ?? null, picked: new Set(),
});

/** The conflicts were read again. Where one was decided, the next one takes its place. */
export function withConflicts(state, list, total) {
  const found = list.findIndex((one) => one.id === state.wanted);
  const index = found >= 0 ? found : Math.min(state.index, Math.max(0, list.length - 1));
  const picked = new Set(list.map((one) => one.id).filter((id) => state.picked.has(id)));
  return { ...state, list, total, index, picked, wanted: list[index]?.id ?? null };
}

/** Some were picked, or are no longer picked. */
export function withPicks(state, ids, isPicked) {
  const picked = new Set(state.picked);
  for (const id of ids) if (isPicked) picked.add(id); else picked.delete(id);
  return { ...state, picked };
}

/** The filter as the operator API names it. The age is counted from now. */
export function selectionOf({ age, ...rest }, now = Date.now()) {
  const before = age ? new Date(now - Number(age) * 1000).toISOString() : "";
  return { ...rest, before };
}

export const isFiltered = ({ filter }) => names.some((name) => filter[name]);

const isMineLater = ({ mineAt, serverAt }) => Date.parse(mineAt) > Date.parse(serverAt);
const isSame = (one, other) => JSON.stringify(one) === JSON.stringify(other);

/** What a choice comes to for one conflict: that of the newest side depends on the times. */
export function sideOf(conflict, choice) {
  if (choice !== "newest") return choice;
  if (conflict.serverAt === null) return null;
  if (isMineLater(conflict)) return "mine";
  return conflict.serverDeleted || conflict.mineDeleted ? "server" : "merged";
}

/** The values that a choice leaves in the fields which differ: `[name, value]`. */
export function resultOf({ fields }, side) {
  const takesMine = ({ overlaps, base, mine }) =>
    side === "mine" ? overlaps || !isSame(mine, base) : side === "merged" && !overlaps && !isSame(mine, base);
  return fields.map((field) => [field.name, takesMine(field) ? field.mine : field.server]);
}

/** The conflict so many places further. After the last one comes the first. */
export function stepped(state, by) {
  const index = (state.index + by + state.list.length) % state.list.length;
  return { ...state, index, wanted: state.list[index].id };
}

/** The conflicts that one choice can decide with this one: the same table, fields and kind of clash. */
export function alikeOnes({ list }, conflict) {
  const clash = clashOf(conflict);
  return list.filter((one) => clashOf(one) === clash);
}

/** @param {ConflictDetail} conflict */
function clashOf({ table, serverDeleted, mineDeleted, fields }) {
  const names = fields.filter((field) => field.overlaps).map((field) => field.name);
  return JSON.stringify([table, serverDeleted, mineDeleted, names]);
}

/**
 * What can be chosen: a deletion has no fields to merge and nothing to keep twice.
 * @param {ConflictDetail} conflict
 * @returns {ConflictChoice[]}
 */
export function choicesFor({ serverDeleted, mineDeleted }) {
  if (mineDeleted) return ["mine", "server"];
  return serverDeleted ? ["mine", "server", "both"] : ["mine", "server", "edited", "both"];
}

/** @param {string | null} id @param {Partial<ConflictFilter>} [filter] */
export const addressOf = (id, filter = {}) =>
  `#/conflicts${id ? `/${encodeURIComponent(id)}` : ""}${query(filter)}`;
