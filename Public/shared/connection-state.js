// What the line at the top says about a status, and what screen readers are told.

import { words } from "./words.js";

/** The states in which an operation needs a decision, as the address of the queue has them. */
export const decisionStates = "conflict,quarantined";

/**
 * The operations that need a decision of the person.
 * @param {Status} status
 */
export const needing = ({ queue }) => queue.conflict + queue.quarantined;

/**
 * The operations that are not on the server, whatever they wait for.
 * @param {Status} status
 */
export const unsent = ({ queue }) => Object.values(queue).reduce((sum, count) => sum + count, 0);

/**
 * The operations that the next sync sends.
 * @param {Status} status
 */
export const waiting = (status) => unsent(status) - needing(status);

/** @param {Status} status */
export const isOfflineByChoice = ({ mode }) => mode.mode === "offline";

/**
 * Where the backend is. A run that has moved something shows that it can be reached, before the engine has
 * judged the run.
 * @param {Status} status
 * @param {Run | null} run
 */
export function linkState(status, run = status.currentRun) {
  const { backend, mode } = status;
  if (mode.mode === "offline") return "workingOffline";
  if ((run?.progress?.done ?? 0) > 0) return "online";
  return backend.isAsked ? backend.state : "notAsked";
}

/**
 * @param {Status} status
 * @param {Run | null} [run]
 */
export function stateText(status, run) {
  const state = linkState(status, run);
  if (state === "workingOffline") return offlineText(status.mode);
  return words.backendState[state] ?? state;
}

/** @param {Mode} mode */
export const offlineText = ({ until }) => (until ? words.workingOfflineUntil(until) : words.workingOffline);

/**
 * Whether all rows are known to be on the server: nothing is unsent, a sync has completed, and the backend
 * can be reached.
 * @param {Status} status
 */
export const isAllSent = (status) =>
  unsent(status) === 0 && status.lastSync !== null && linkState(status, null) === "online";

/**
 * What screen readers are told about a change of the line; null where only a number changed.
 * @param {Status | null} before
 * @param {Status} now
 */
export function announcement(before, now) {
  if (!before) return null;
  if (needing(now) > needing(before)) return words.needDecision(needing(now));
  const isOtherState = linkState(now) !== linkState(before);
  if (isOtherState && !isOfflineByChoice(now)) return words.backendIs(linkState(now));
  if (unsent(before) > 0 && isAllSent(now)) return words.allSent;
  return null;
}

/**
 * The tables that the backend fails for while it answers otherwise, with what waits.
 * @param {Status} status
 * @returns {FailingTable[]}
 */
export const failing = ({ tables }) => tables.flatMap(({ name, pushWait, pullWait }) => {
  /** @type {FailingTable[]} */
  const waits = [];
  if (pushWait) waits.push({ name, kind: "push", wait: pushWait });
  if (pullWait) waits.push({ name, kind: "pull", wait: pullWait });
  return waits;
});

/**
 * The backend's state and reason while changes cannot be sent. Null where they can be, where nothing was
 * asked of it yet, and where a person chose to work offline.
 * @param {Status} status
 * @returns {(Omit<BackendStatus, "url" | "since" | "isAsked" | "changesFollowedSince">
 *   & { since: Instant | null }) | null}
 */
export function obstacle(status) {
  const { backend, tables } = status;
  const state = linkState(status);
  if (state === "workingOffline" || state === "notAsked") return null;
  if (state !== "online") return backend;
  // The backend answers but gives none of the tables that are used here: its address may be wrong.
  const isMissing = ({ pullError, isComplete }) =>
    /^(There is no table |Table \S+ gives no list)/.test(pullError ?? "") && !isComplete;
  if (tables.length === 0 || !tables.every(isMissing)) return null;
  const [{ pullError, pullsFailSince: since }] = tables;
  const reason = words.backendAnswers(pullError);
  return { state: "notTables", reason, since, nextTry: null, failedRequest: backend.failedRequest };
}
