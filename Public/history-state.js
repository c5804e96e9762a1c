// What the history view knows. Each function takes values and gives new ones.

import { readable } from "./diff.js";
import { shortened } from "./formats.js";

const titleMost = 80;

/**
 * `seen` is the latest entry at the last look at this view, `q` the text that is searched for.
 * @returns {HistoryState}
 */
export const begin = (seen, q) => ({ entries: [], next: null, total: 0, seen, newest: seen, q });

/** Another text is searched for. */
export const withSearch = (state, q) => ({ ...state, q, entries: [], next: null });

/**
 * Lays the latest page over the entries. Where the two do not meet, the list starts again with the page.
 * @param {HistoryState} state
 * @param {HistoryEntryPage} page
 */
export function withLatest(state, { items, next, total }) {
  const newest = Math.max(state.newest, ...items.map((entry) => entry.id));
  const doMeet = state.entries.length > 0 && items.some((entry) => entry.id === state.entries[0].id);
  if (!doMeet) return { ...state, newest, entries: items, next, total };
  const oldest = items[items.length - 1].id;
  const earlier = state.entries.filter((entry) => entry.id < oldest);
  return { ...state, newest, total, entries: [...items, ...earlier] };
}

export const withMore = (state, { items, next }) =>
  ({ ...state, entries: [...state.entries, ...items], next });

/** An entry was undone. The entry that did it comes with the next read. */
export const withUndone = (state, id) => ({
  ...state,
  entries: state.entries.map((entry) => (entry.id === id ? { ...entry, undoneBy: id } : entry)),
});

/** Counts what came since the last look by kind; `isAll` says whether the entries reach back to it. */
export function sinceLastLook({ entries, next, seen }) {
  const counts = new Map();
  const newOnes = entries.filter(({ id, actor }) => id > seen && actor !== "person");
  for (const { kind } of newOnes) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return { counts: [...counts], isAll: !next || entries[entries.length - 1].id <= seen };
}

/** @param {HistoryEntry} entry */
export function titleOf({ before, after, title, itemId }) {
  const item = after ?? before;
  const names = [item?.text, item?.title, item?.name, title, itemId];
  return shortened(String(names.find((name) => String(name ?? "").trim()) ?? ""), titleMost);
}

/** @param {HistoryEntry} entry */
export function changedFields({ before, after }) {
  const names = new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})]);
  return [...names]
    .map((name) => ({ name, from: readable(before?.[name]), to: readable(after?.[name]) }))
    .filter(({ from, to }) => from !== to);
}
