// Which todos of a table are shown, in which order. It is in the address, so that it can be shared.
// Each function takes values and gives new ones.

import { query } from "../shared/api.js";
import { isStandard } from "./source.js";
import { words } from "../shared/words.js";

const showKey = "understudy-todos-show";
const sortKey = "understudy-todos-sort";

/** A text as a filter has it. */
export const quoted = (text) => `'${text.replaceAll("'", "''")}'`;

/**
 * The filters of a table, by the name of their button; only All where no column says that a todo is done.
 * @returns {Record<string, string | null>}
 */
export const filtersOf = (source) => ({
  all: null,
  ...(source.done ? { active: openFilter(source), completed: `${source.done} eq true` } : {}),
});

export const openFilter = ({ done }) => `(${done} eq false or ${done} eq null)`;

const ordersOf = ({ text }, due) => ({ newest: "createdAt desc", oldest: "createdAt", text, due });

/**
 * What an address asks for, else what this browser showed the last time.
 * @param {Route} route
 * @param {TodoSource} source
 */
export function questionOf(route, source) {
  const at = route.parameters;
  const known = (value, values, fallback) => (Object.hasOwn(values, value) ? value : fallback);
  return {
    show: known(at.get("show") ?? localStorage.getItem(showKey), filtersOf(source), "all"),
    sort: known(at.get("sort") ?? localStorage.getItem(sortKey), ordersOf(source, ""), "newest"),
    q: at.get("q") ?? "",
  };
}

export function keep({ show, sort }) {
  localStorage.setItem(showKey, show);
  localStorage.setItem(sortKey, sort);
}

export function addressOf({ show, sort, q }) {
  return `#/todos${query({ show: show === "all" ? "" : show, sort: sort === "newest" ? "" : sort, q })}`;
}

/** `due` is the column that says when a todo is due; without one the newest come first. */
export function parametersOf({ show, sort, q }, source, due) {
  const text = q.trim().toLowerCase();
  const search = text && `substringof(${quoted(text)},tolower(${source.text}))`;
  const filter = [filtersOf(source)[show], search].filter(Boolean).join(" and ");
  const orders = ordersOf(source, due);
  // Those without a day come last.
  const orderby = sort === "due" && due ? `${due} eq null,${due}` : (orders[sort] ?? orders.newest);
  return { filter, orderby };
}

/** Why the list is empty. `isMissing` says that there is no table at all. */
export function emptyText({ show, q }, source, isMissing) {
  if (q) return words.nothingMatches;
  if (isMissing && show === "all") return words.noTableYet(location.origin, source.table);
  return isStandard(source) || show !== "all" ? words.noTodos[show] : words.noRows;
}

/** The count of open todos, or of rows where no column says that one is done. */
export function countText(source, count) {
  if (!source.done) return words.rowCount(count);
  return isStandard(source) ? words.todosLeft(count) : words.openLeft(count);
}
