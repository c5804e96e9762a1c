// What the line at the top says about a status, and what screen readers are told.

import { words } from "./words.js";

/**
 * The operations that wait for a decision of the person.
 * @param {Status} status
 */
export const needing = ({ queue }) => queue.conflict + queue.quarantined;

/**
 * The operations that wait to be sent.
 * @param {Status} status
 */
export const waiting = ({ queue }) => queue.queued + queue.waiting + queue.sending + queue.unknown;

/** @param {Status} status */
export const isOfflineByChoice = ({ mode }) => mode.mode === "offline";

/** @param {Status} status */
export function stateText({ backend, mode }) {
  if (mode.mode === "offline") return offlineText(mode);
  return words.backendState[backend.state] ?? backend.state;
}

/** @param {Mode} mode */
export const offlineText = ({ until }) => (until ? words.offlineUntil(until) : words.offlineByChoice);

/**
 * What screen readers are told about a change of the line; null where only a number changed.
 * @param {Status | null} before
 * @param {Status} now
 */
export function announcement(before, now) {
  if (!before) return null;
  if (needing(now) > needing(before)) return words.needYou(needing(now));
  const isOtherState = now.backend.state !== before.backend.state;
  if (isOtherState && !isOfflineByChoice(now)) return words.backendIs(now.backend.state);
  if (waiting(before) > 0 && waiting(now) === 0 && needing(now) === 0) return words.allSent;
  return null;
}

/**
 * The backend's state and reason while changes cannot be sent. Null where they can be, and where a person
 * chose to work offline.
 * @param {Status} status
 * @returns {Pick<BackendStatus, "state" | "reason" | "since" | "nextTry"> | null}
 */
export function obstacle({ backend, mode, tables }) {
  if (mode.mode === "offline") return null;
  if (backend.state !== "online") return backend;
  // The backend answers but has none of the tables that are used here: its address may be wrong.
  const isMissing = (table) => table.pullError?.startsWith("There is no table ") && !table.isComplete;
  if (tables.length === 0 || !tables.every(isMissing)) return null;
  const [{ pullError, pullsFailSince: since }] = tables;
  return { state: "notTables", reason: words.backendAnswers(pullError), since, nextTry: null };
}
