// Which table the todos are in, which of its columns is the text and which says that one is done.

import { operator } from "../shared/api.js";
import { systemColumns } from "../tables/state.js";

/**
 * What most todo apps of these SDKs have; it is shown until a person chooses another table.
 * @type {TodoSource}
 */
export const standard = { table: "todoitem", text: "text", done: "complete" };

const key = "understudy-todos-source";
const textNames = ["text", "title", "name", "subject", "summary", "label", "description", "content"];
const doneNames = [
  "complete", "completed", "done", "isdone", "iscomplete", "iscompleted", "finished", "checked", "closed",
];
const dueNames = ["dueAt", "due", "dueDate", "due_at", "due_date"];
const sampleRows = 50;

const plain = (name) => name.toLowerCase().replaceAll("_", "");
const isSameName = (one, other) => one.toLowerCase() === other.toLowerCase();

/** The column of a row that says when it is due, whatever its value; undefined where there is none. */
export const dueColumnOf = (item) => dueNames.find((name) => name in item);

/**
 * The choice that this browser keeps.
 * @returns {TodoSource | null}
 */
export function keptSource() {
  try {
    const { table, text, done } = JSON.parse(localStorage.getItem(key) ?? "{}");
    return typeof table === "string" && typeof text === "string" ? { table, text, done: done ?? null } : null;
  } catch {
    return null; // This page did not write it.
  }
}

export const keepSource = (source) => localStorage.setItem(key, JSON.stringify(source));

export const isSame = (one, other) =>
  isSameName(one.table, other.table) && one.text === other.text && one.done === other.done;

export const isStandard = (source) => isSame(source, standard);

/** The tables of the store, and those that are named with --table. */
export async function knownTables() {
  const [{ items }, { tables }] = await Promise.all([operator.get("/tables"), operator.get("/settings")]);
  const known = items.map(({ name, items: rows }) => ({ name, rows }));
  for (const name of tables) if (!named(known, name)) known.push({ name, rows: 0 });
  return known;
}

/** The name of a known table, whatever the case of its letters. */
export const named = (known, name) => known.find((table) => isSameName(table.name, name))?.name;

/** The table to offer first: one with todos by its name, else the one with the most rows. */
export function likelyTable(known) {
  const todos = known.find(({ name }) => /todo|task/i.test(name));
  return (todos ?? known.toSorted((one, other) => other.rows - one.rows)[0]).name;
}

/**
 * The columns of a table that can be shown: `texts` and `dones`, and the likely ones of them, `text` and
 * `done`. A table without rows is taken to have the standard columns.
 */
export async function columnsOf(table) {
  try {
    const { items } = await operator.get(`/tables/${encodeURIComponent(table)}/items?top=${sampleRows}`);
    return likelyColumns(items.map((row) => row.item));
  } catch (problem) {
    if (problem.code !== "not-found") throw problem;
    return likelyColumns([]); // It is named, and not copied yet.
  }
}

/** @param {Item[]} rows */
export function likelyColumns(rows) {
  if (rows.length === 0) return { texts: [standard.text], dones: [standard.done], ...standard };
  // Only such a name can stand in a filter.
  const isPlain = (name) => !systemColumns.includes(name) && /^[A-Za-z_]\w*$/.test(name);
  const names = [...new Set(rows.flatMap(Object.keys))].filter(isPlain);
  // The name of a column without a value decides which of these it is taken for.
  const ofType = (type, likelyNames) => names.filter((name) => {
    const values = rows.map((row) => row[name] ?? null).filter((value) => value !== null);
    return values.length ? values.every((value) => typeof value === type) : likelyNames.includes(plain(name));
  });
  const texts = ofType("string", textNames);
  const dones = ofType("boolean", doneNames);
  const best = (found, list) =>
    list.map((wanted) => found.find((name) => plain(name) === wanted)).find(Boolean);
  const onlyDone = dones.length === 1 ? dones[0] : null;
  return {
    texts: texts.length ? texts : ["id"],
    dones,
    text: best(texts, textNames) ?? texts[0] ?? "id",
    done: best(dones, doneNames) ?? onlyDone,
  };
}
