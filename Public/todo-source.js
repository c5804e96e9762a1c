// Which table the todos are in, which of its columns is the text and which says that one is done.

import { operator } from "./api.js";

/** The table and columns that most todo apps of these SDKs have; they hold until a person chooses others. */
export const standard = { table: "todoitem", text: "text", done: "complete" };

const key = "understudy-todos-source";
const system = ["id", "createdAt", "updatedAt", "version", "deleted"];
const textNames = ["text", "title", "name", "subject", "summary", "label", "description", "content"];
const doneNames = ["complete", "completed", "done", "isdone", "iscomplete", "iscompleted", "finished", "checked", "closed"];
const sampleRows = 50;

const alike = (name) => name.toLowerCase().replaceAll("_", "");
const isSameName = (one, other) => one.toLowerCase() === other.toLowerCase();

/** The choice that this browser keeps; null when there is none. */
export function keptSource() {
  try {
    const { table, text, done } = JSON.parse(localStorage.getItem(key)) ?? {};
    return typeof table === "string" && typeof text === "string" ? { table, text, done: done ?? null } : null;
  } catch {
    return null; // Not what this page wrote: as if there were none.
  }
}

export const keepSource = (source) => localStorage.setItem(key, JSON.stringify(source));

export const isSame = (one, other) => isSameName(one.table, other.table) && one.text === other.text && one.done === other.done;
export const isStandard = (source) => isSame(source, standard);

/** The tables that are known: those of the store, and those that are named with --table. */
export async function knownTables() {
  const [{ items }, { tables }] = await Promise.all([operator.get("/tables"), operator.get("/settings")]);
  const known = items.map(({ name, items: rows }) => ({ name, rows }));
  for (const name of tables) if (!known.some((table) => isSameName(table.name, name))) known.push({ name, rows: 0 });
  return known;
}

export const named = (known, name) => known.find((table) => isSameName(table.name, name))?.name;

/** The table to offer first: one with todos by its name, else the one with the most rows. */
export function likelyTable(known) {
  const todos = known.find(({ name }) => /todo|task/i.test(name));
  return (todos ?? known.toSorted((one, other) => other.rows - one.rows)[0]).name;
}

/**
 * What the rows of a table have to offer: `texts` and `dones` are names of columns, `text` and `done` the likely
 * ones among them. A table without a row to look at may have the columns of any other.
 */
export async function columnsOf(table) {
  let rows = [];
  try {
    rows = (await operator.get(`/tables/${encodeURIComponent(table)}/items?top=${sampleRows}`)).items.map((row) => row.item);
  } catch (problem) {
    if (problem.code !== "not-found") throw problem; // Named, and not copied yet.
  }
  return likelyColumns(rows);
}

/** The same of rows that are there already. */
export function likelyColumns(rows) {
  if (!rows.length) return { texts: [standard.text], dones: [standard.done], text: standard.text, done: standard.done };
  // Only such a name can stand in a filter.
  const names = [...new Set(rows.flatMap(Object.keys))].filter((name) => !system.includes(name) && /^[A-Za-z_]\w*$/.test(name));
  const values = (name) => rows.map((row) => row[name]).filter((value) => value !== null && value !== undefined);
  const has = (type) => (name) => values(name).every((value) => typeof value === type);
  const isNamed = (list) => (name) => list.includes(alike(name));
  const texts = names.filter(has("string")).filter((name) => values(name).length || isNamed(textNames)(name));
  const dones = names.filter(has("boolean")).filter((name) => values(name).length || isNamed(doneNames)(name));
  const best = (found, list) => list.map((wanted) => found.find((name) => alike(name) === wanted)).find(Boolean);
  const isOnly = dones.length === 1;
  return {
    texts: texts.length ? texts : ["id"],
    dones,
    text: best(texts, textNames) ?? texts[0] ?? "id",
    done: best(dones, doneNames) ?? (isOnly ? dones[0] : null),
  };
}
