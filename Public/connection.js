// The line at the top: where the backend is, what waits, what needs the person, and Sync now.

import { operator } from "./api.js";
import { coalesce, fill, h, toast } from "./dom.js";
import { number, words } from "./words.js";

const pollMilliseconds = 150;

/** Builds the line in `element`. Gives `{status, refresh, hear}`; `status()` is the last one read. */
export function connection(element) {
  let status = null;
  let run = null;
  const loud = h("p", { class: "loud", hidden: true });
  const pill = h("span", { class: "pill" });
  const detail = h("span", { class: "detail" });
  const syncButton = h("button", { type: "button", class: "primary", onclick: sync }, words.syncNow);
  const modeButton = h("button", { type: "button", onclick: toggleMode });
  fill(element, h("div", { class: "state" }, pill, detail), h("div", { class: "actions" }, modeButton, syncButton));
  element.after(loud);

  async function sync() {
    if (run) return void (run.id && (await operator.post(`/runs/${run.id}/cancel`).catch(() => {})));
    run = { id: null, progress: null };
    draw();
    try {
      run = await operator.post("/sync?wait=0");
      while (run.state === "running") {
        draw();
        await new Promise((resume) => setTimeout(resume, pollMilliseconds));
        run = await operator.get(`/runs/${run.id}`);
      }
      toast(sentence(run));
    } catch (problem) {
      toast(problem.message);
    }
    run = null;
    refresh();
    draw();
  }

  function sentence(ended) {
    const parts = [words.runState[ended.state] ?? ended.state];
    if (ended.reason && ended.state !== "complete") parts[0] += ` (${ended.reason})`;
    if (ended.push?.applied) parts.push(words.runSent(ended.push.applied));
    const received = (ended.pull ?? []).reduce((sum, one) => sum + one.applied, 0);
    if (received) parts.push(words.runReceived(received));
    const attention = (ended.push?.conflicts ?? 0) + (ended.push?.quarantined ?? 0);
    if (attention) parts.push(words.needYou(attention));
    return parts.join(", ") + ".";
  }

  async function toggleMode() {
    const mode = status?.mode?.mode === "offline" ? "online" : "offline";
    try {
      await operator.post("/mode", { mode });
      await load();
    } catch (problem) {
      toast(problem.message);
    }
  }

  async function load() {
    status = await operator.get("/status");
    draw();
  }

  function draw() {
    fill(syncButton, run ? [h("span", { class: "spinner", "aria-hidden": "true" }), words.progress(run.progress)] : words.syncNow);
    syncButton.title = run ? words.cancelSync : "";
    if (!status) return;
    const { backend, queue } = status;
    const byChoice = status.mode?.mode === "offline";
    const attention = queue.conflict + queue.quarantined;
    const waiting = queue.queued + queue.waiting + queue.sending + queue.unknown;
    pill.className = `pill ${byChoice ? "offline" : backend.state}`;
    fill(pill, byChoice ? words.offlineByChoice : (words.backendState[backend.state] ?? backend.state));
    pill.title = backend.reason ?? "";
    const parts = [];
    if (attention) parts.push(h("a", { href: "#/conflicts", class: "attention" }, words.needYou(attention)));
    if (waiting) parts.push(h("a", { href: "#/queue" }, words.waitingChanges(waiting)));
    if (!attention && !waiting) parts.push(words.allSent);
    parts.push(status.lastSync ? words.lastSync(status.lastSync) : words.neverSynced);
    if (backend.state !== "online" && backend.nextTry && !byChoice) parts.push(words.nextTry(backend.nextTry));
    fill(detail, parts.flatMap((part, index) => (index ? [" · ", part] : [part])));
    fill(modeButton, byChoice ? words.goOnline : words.goOffline);
    // Loud only when this person's own work is at risk: written here, and cannot leave.
    const stuck = waiting > 0 && backend.state !== "online" && !byChoice;
    loud.hidden = !stuck;
    if (stuck) fill(loud, words.risk(waiting, backend.reason));
    badge("queue", waiting);
    badge("conflicts", attention);
  }

  function badge(view, count) {
    const element = document.getElementById(`badge-${view}`);
    if (!element) return;
    element.hidden = count === 0;
    fill(element, number(count));
  }

  const refresh = coalesce(() => load().catch(() => {}), 60);
  // Times in words grow old by themselves.
  setInterval(draw, 10_000);

  return {
    status: () => status,
    refresh,
    hear(kind) {
      if (kind !== "item") refresh();
    },
  };
}
