// What the conflicts view knows. Each function takes values and gives new ones.

/**
 * `wanted` is the id that the address asks for, or null.
 * @returns {ConflictsState}
 */
export const begin = (wanted) => ({ list: [], total: 0, index: 0, wanted });

/** The conflicts were read again. Where one was decided, the next one takes its place. */
export function withConflicts(state, list, total) {
  const found = list.findIndex((one) => one.id === state.wanted);
  const index = found >= 0 ? found : Math.min(state.index, Math.max(0, list.length - 1));
  return { list, total, index, wanted: list[index]?.id ?? null };
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

export const addressOf = (id) => `#/conflicts/${encodeURIComponent(id)}`;
