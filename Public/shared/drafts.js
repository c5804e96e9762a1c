// Texts that are typed and not stored yet. They outlive the view and a reload of the tab.

import { identity } from "./api.js";

const prefix = "understudy-draft:";
// Two identities have rows, changes and conflicts with the same ids.
const prefixOf = (name) => `${prefix}${encodeURIComponent(name)}:`;
const own = prefixOf(identity ?? "anonymous");

/** The names of the drafts. No two fields share one, whatever an id of a row is. */
export const draftOf = {
  newTodo: (table, column) => `new:${nameOf(table, column)}`,
  newRow: (table) => `new-row:${nameOf(table)}`,
  row: (table, id, column = "") => `row:${nameOf(table, id, column)}`,
  conflict: (id, column = "") => `conflict:${nameOf(id, column)}`,
  operation: (id) => `operation:${nameOf(id)}`,
};

const nameOf = (...parts) => JSON.stringify(parts);

// The drafts of this tab. The browser's storage is their copy for a reload; it may be full or switched off.
const drafts = new Map(stored());

/** `value` is a text or anything that JSON can hold. */
export const draft = {
  read: (name) => drafts.get(name) ?? null,
  write(name, value) {
    drafts.set(name, value);
    inStorage(() => sessionStorage.setItem(own + name, JSON.stringify(value)));
  },
  forget(name) {
    drafts.delete(name);
    inStorage(() => sessionStorage.removeItem(own + name));
  },
  move(from, to) {
    const value = this.read(from);
    this.forget(from);
    if (value !== null) this.write(to, value);
  },
  /** What the drafts of a kind hold, as those of all conflicts; `kind` is what their names begin with. */
  allOf: (kind) =>
    [...drafts].filter(([name]) => name.startsWith(`${kind}:`)).map(([, value]) => value),
};

/**
 * The drafts of todos, of whatever table and column: of a row with an id, or of new ones.
 * @returns {{ name: string, table: string, column: string, id: any, text: string }[]}
 */
export const todoDrafts = () => [...drafts].flatMap(([name, { text, lines = [] }]) => {
  const [kind] = name.split(":", 1);
  if (kind !== "row" && kind !== "new") return [];
  const parts = JSON.parse(name.slice(kind.length + 1));
  const [table, id, column] = kind === "row" ? parts : [parts[0], null, parts[1]];
  if (!column) return []; // The card of a row in Tables.
  const texts = [...lines.map((one) => one.text), text].filter(Boolean);
  return [{ name, table, column, id, text: texts.join("\n") }];
});

/** The other identities for whose rows something was typed in this tab and not saved. */
export const othersWithDrafts = () => [...new Set(keys().filter((key) => !key.startsWith(own))
  .map((key) => decodeURIComponent(key.slice(prefix.length).split(":", 1)[0])))];

/** Lets the browser ask before the tab is closed or loaded again, while something is not stored. */
export function askBeforeLeaving() {
  addEventListener("beforeunload", (event) => {
    if (drafts.size || othersWithDrafts().length) event.preventDefault();
  });
}

function keys() {
  return inStorage(() => Object.keys(sessionStorage).filter((key) => key.startsWith(prefix))) ?? [];
}

function stored() {
  return inStorage(() => keys().filter((key) => key.startsWith(own))
    .map((key) => [key.slice(own.length), JSON.parse(sessionStorage.getItem(key) ?? "")])) ?? [];
}

function inStorage(work) {
  try {
    return work();
  } catch {
    return null; // The draft lives as long as the page then.
  }
}
