// Long work: starts a sync, a push or a pull and follows it with counts, rate and a way to stop it.

import { operator } from "./api.js";
import { words } from "./words.js";

const pollMilliseconds = 150;

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
  while (run.state === "running") {
    stage = stageOf(run, stage);
    onProgress({ ...run, stage });
    await new Promise((resume) => setTimeout(resume, pollMilliseconds));
    run = await operator.get(`/runs/${run.id}`);
  }
  return run;
}

/**
 * The rate is measured anew with another phase, and in a pull with another table.
 * @param {Run} run
 * @param {Stage | null} before
 */
function stageOf({ progress, pull }, before) {
  if (!progress) return before;
  const name = `${progress.phase} ${pull.at(-1)?.table}`;
  return before?.name === name ? before : { name, since: Date.now(), done: progress.done };
}

export const cancel = (run) => operator.post(`/runs/${run.id}/cancel`).catch(() => {});

/**
 * "Sending 40 of 120, 35 a second, 2 s left", as far as it is known.
 * @param {FollowedRun} run
 */
export function progress({ progress: now, pull, stage }) {
  if (!now || !stage) return words.syncing;
  const seconds = Math.max(0.1, (Date.now() - stage.since) / 1000);
  const rate = (now.done - stage.done) / seconds;
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

/**
 * One sentence about a run that ended.
 * @param {Run} run
 */
export function sentence(run) {
  const parts = [words.runState[run.state] ?? run.state];
  if (run.reason && run.state !== "complete") parts[0] += ` (${run.reason})`;
  if (run.push?.applied) parts.push(words.runSent(run.push.applied));
  const received = run.pull.reduce((sum, one) => sum + one.applied, 0);
  if (received) parts.push(words.runReceived(received));
  const attention = (run.push?.conflicts ?? 0) + (run.push?.quarantined ?? 0);
  if (attention) parts.push(words.needYou(attention));
  const failed = run.pull.find((one) => one.error);
  if (failed && failed.error !== run.reason) parts.push(`${failed.table}: ${failed.error}`);
  return parts.join(", ") + ".";
}
