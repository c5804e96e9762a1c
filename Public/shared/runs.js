// Long work: starts a sync, a push or a pull and follows it with counts, rate and a way to stop it.

import { operator } from "./api.js";
import { needing } from "./connection-state.js";
import { words } from "./words.js";

const pollMilliseconds = { first: 150, most: 1000 };
const rateMilliseconds = 10_000; // The rate is that of the last 10 s.

/** Starts what `path` names and calls `onProgress` while it runs. Gives the run as it ended. */
export async function follow(path, body, onProgress) {
  const separator = path.includes("?") ? "&" : "?";
  return watch(await operator.post(path + separator + "wait=0", body), onProgress);
}

/**
 * Follows a run that is under way.
 * @param {Run} started
 * @param {(run: FollowedRun) => void} onProgress
 */
export async function watch(started, onProgress) {
  let run = started;
  let stage = null;
  let wait = pollMilliseconds.first;
  while (run.state === "running") {
    stage = stageOf(run, stage);
    onProgress({ ...run, stage });
    await new Promise((resume) => setTimeout(resume, wait));
    wait = Math.min(wait * 2, pollMilliseconds.most);
    run = await operator.get(`/runs/${run.id}`);
  }
  return run;
}

/**
 * What was done at which time, for the rate. It begins anew with another phase, and in a pull with another
 * table.
 * @param {Run} run
 * @param {Stage | null} before
 */
function stageOf({ progress, pull }, before) {
  if (!progress) return before;
  const name = `${progress.phase} ${pull.at(-1)?.table}`;
  const now = { at: Date.now(), done: progress.done };
  const known = before?.name === name ? before.points : [];
  return { name, points: [...known.filter(({ at }) => now.at - at <= rateMilliseconds), now] };
}

export const cancel = (run) => operator.post(`/runs/${run.id}/cancel`).catch(() => {});

/**
 * "Sending 40 of 120, 35 a second, 2 s left", as far as it is known.
 * @param {FollowedRun} run
 */
export function progress({ progress: now, pull, stage }) {
  if (!now || !stage) return words.syncing;
  const [first] = stage.points;
  const seconds = Math.max(0.1, (Date.now() - first.at) / 1000);
  const rate = (now.done - first.done) / seconds;
  const left = now.total && rate > 0 ? Math.ceil((now.total - now.done) / rate) : 0;
  const counts = [
    now.phase === "push"
      ? words.sending(now.done, now.total)
      : words.receiving(pull.at(-1)?.table, now.done, now.total),
    rate >= 1 && words.rate(Math.round(rate)),
    left > 1 && words.secondsLeft(left),
  ];
  return counts.filter(Boolean).join(", ");
}

const withoutDot = (text) => text.replace(/\.$/, "");

/**
 * Short sentences about a run that ended. It never says that all is synced while something needs a decision.
 * @param {Run} run
 * @param {Status | null} status As it is after the run.
 */
export function sentence(run, status) {
  const ofRun = (run.push?.conflicts ?? 0) + (run.push?.quarantined ?? 0);
  const attention = status ? needing(status) : ofRun;
  const failed = run.pull.find((one) => one.error);
  const isThrough = run.state === "complete" || run.state === "completeWithErrors" && ofRun > 0 && !failed;
  const parts = [!isThrough ? (words.runState[run.state] ?? run.state)
    : attention ? words.syncedBut(attention) : words.runState.complete];
  if (run.reason && !isThrough) parts.push(withoutDot(run.reason));
  if (run.push?.applied) parts.push(words.runSent(run.push.applied));
  const received = run.pull.reduce((sum, one) => sum + one.applied, 0);
  if (received) parts.push(words.runReceived(received));
  if (attention && !isThrough) parts.push(words.needDecision(attention));
  if (failed?.error && failed.error !== run.reason)
    parts.push(`${failed.table}: ${withoutDot(failed.error)}`);
  return parts.join(". ") + ".";
}
