// What the history view knows. Each function takes values and gives new ones.

import { query } from "../shared/api.js";
import { readable } from "../shared/diff.js";
import { day, shortened, time } from "../shared/formats.js";
import { overviewWords, runWords } from "../overview/words.js";

const titleMost = 80;
const names = ["q", "when", "kind", "by", "table"];

/**
 * What an address asks for.
 * @returns {HistoryFilter}
 */
export const filterOf = (route) =>
  /** @type {any} */ (Object.fromEntries(names.map((name) => [name, route.parameters.get(name) ?? ""])));

export const addressOf = (filter) => `#/history${query(filter)}`;

/** The filter as the operator API names it. Days are those of the place where the person is. */
export const selectionOf = (filter) =>
  ({ ...filter, zone: filter.when && Intl.DateTimeFormat().resolvedOptions().timeZone });

export const isFiltered = (filter) => query(filter) !== "";

/**
 * `seen` is the latest entry at the last look at this view.
 * @returns {HistoryState}
 */
export const begin = (seen, filter) =>
  ({ entries: [], next: null, total: 0, seen, newest: seen, filter, period: "", refusal: "" });

/** Another filter begins at the latest entry. */
export const withFilter = (state, filter) => ({ ...state, filter, entries: [], next: null });

/** The words of the filter are not understood, for this reason. */
export const withRefusal = (state, refusal) =>
  ({ ...state, refusal, entries: [], next: null, total: 0, period: "" });

/**
 * Lays the latest page over the entries. Where the page does not reach back to them, the list starts again
 * with it.
 * @param {HistoryState} state
 * @param {HistoryPage} page
 */
export function withLatest(state, { items, next, total, from, to }) {
  const newest = Math.max(state.newest, ...items.map((entry) => entry.id));
  const now = { ...state, newest, total, period: periodOf(from, to), refusal: "" };
  const last = state.entries.findIndex(({ id }) => id === items.at(-1)?.id);
  const earlier = last < 0 ? [] : state.entries.slice(last + 1);
  return { ...now, entries: [...items, ...earlier], next: earlier.length ? state.next : next };
}

const isMidnight = (at) => at.toTimeString().startsWith("00:00:00");

/** What the words of a person were taken for: days where it is whole days, else times. */
function periodOf(from, to) {
  const first = from && (isMidnight(new Date(from)) ? day(from) : time(from));
  const last = to && (isMidnight(new Date(to)) ? day(Date.parse(to) - 1) : time(to));
  if (first && last) return first === last ? first : overviewWords.span(first, last);
  return first ? runWords.since(first) : last ? runWords.until(last) : "";
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
