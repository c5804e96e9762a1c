// Long work: starts a sync, a push or a pull and follows it with counts, rate and a way to stop.

import { operator } from "./api.js";
import { words } from "./words.js";

const pollMilliseconds = 150;

/** Starts what `path` names; `onProgress(run)` hears how far it is. Gives the run as it ended. */
export async function follow(path, body, onProgress) {
  let run = await operator.post(path + (path.includes("?") ? "&" : "?") + "wait=0", body);
  while (run.state === "running") {
    onProgress(run);
    await new Promise((resume) => setTimeout(resume, pollMilliseconds));
    run = await operator.get(`/runs/${run.id}`);
  }
  return run;
}

export const cancel = (run) => operator.post(`/runs/${run.id}/cancel`).catch(() => {});

/** "Sending 40 of 120, 35 a second, 2 seconds left"; `open` is how many operations were open before. */
export function progress(run, open = 0, now = Date.now()) {
  const seconds = Math.max(0.1, (now - new Date(run.startedAt)) / 1000);
  const received = run.pull.reduce((sum, one) => sum + one.received, 0);
  if (received) return words.receiving(received, Math.round(received / seconds));
  const sent = run.push?.sent ?? 0;
  if (!sent) return words.syncing;
  const left = Math.max(0, open - sent);
  const rate = sent / seconds;
  return words.sending(sent, left && open, Math.round(rate), left ? Math.ceil(left / rate) : 0);
}

/** One sentence about a run that ended. */
export function sentence(run) {
  const parts = [words.runState[run.state] ?? run.state];
  if (run.reason && run.state !== "complete") parts[0] += ` (${run.reason})`;
  if (run.push?.applied) parts.push(words.runSent(run.push.applied));
  const received = run.pull.reduce((sum, one) => sum + one.applied, 0);
  if (received) parts.push(words.runReceived(received));
  const attention = (run.push?.conflicts ?? 0) + (run.push?.quarantined ?? 0);
  if (attention) parts.push(words.needYou(attention));
  const failed = run.pull.find((one) => one.error);
  if (failed) parts.push(`${failed.table}: ${failed.error}`);
  return parts.join(", ") + ".";
}

