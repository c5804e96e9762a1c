// What keeps changes on this device although they could leave.

import { words } from "./words.js";

/**
 * The backend's state and reason while changes cannot leave: `{ state, reason, since, nextTry }`.
 * Null where they can, and where a person chose to work offline.
 */
export function obstacle(status) {
  const { backend, mode, tables } = status;
  if (mode?.mode === "offline") return null;
  if (backend.state !== "online") return backend;
  // The backend answers, and has none of the tables that are used here: its address may be wrong.
  const missing = tables.filter((table) => table.pullError?.startsWith("There is no table ") && !table.isComplete);
  if (tables.length === 0 || missing.length < tables.length) return null;
  return { state: "notTables", reason: words.backendAnswers(missing[0].pullError), since: missing[0].pullsFailSince, nextTry: null };
}
