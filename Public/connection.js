// The line at the top: where the backend is, what waits, what needs the person, and Sync now.

import { operator } from "./api.js";
import { announce, coalesce, fill, h, toast } from "./dom.js";
import { shortNumber } from "./formats.js";
import { obstacle } from "./obstacle.js";
import { cancel, follow, progress, sentence, watch } from "./runs.js";
import { words } from "./words.js";

const longRunMilliseconds = 600; // What is over sooner would only flicker.

const needing = ({ queue }) => queue.conflict + queue.quarantined;
const open = ({ queue }) => queue.queued + queue.waiting + queue.sending + queue.unknown;

/** What a person who does not see the line has to hear about a change of it; nothing where only a number moved. */
function meaning(before, now) {
  if (!before) return null;
  if (needing(now) > needing(before)) return words.needYou(needing(now));
  if (now.backend.state !== before.backend.state && now.mode.mode === "online") return words.backendIs(now.backend.state);
  if (open(before) > 0 && open(now) === 0 && needing(now) === 0) return words.allSent;
  return null;
}

/** Builds the line in `element`. Gives `{status, refresh, hear}`; `status()` is the last one read. */
export function connection(element) {
  let status = null;
  let run = null;
  const loud = h("p", { class: "loud", hidden: true });
  const pill = h("a", { class: "pill", href: "#/status" });
  const detail = h("span", { class: "detail" });
  const syncButton = h("button", { type: "button", class: "primary", onclick: sync }, words.syncNow);
  const modeButton = h("button", { type: "button", onclick: toggleMode });
  fill(element, h("div", { class: "state" }, pill, detail), h("div", { class: "actions" }, modeButton, syncButton));
  element.after(loud);

  async function sync() {
    if (run) return void (run.id && cancel(run));
    run = { id: null };
    draw();
    try {
      const ended = await follow("/sync", {}, (now) => {
        run = now;
        draw();
      });
      toast(sentence(ended));
    } catch (problem) {
      toast(problem.message);
    }
    run = null;
    refresh();
    draw();
  }

  /** Shows a run that nobody here started, once it takes long. */
  async function adopt(other) {
    if (run || !other) return;
    if (Date.now() - new Date(other.startedAt) < longRunMilliseconds) return void setTimeout(refresh, longRunMilliseconds);
    run = other;
    await watch(other, (now) => {
      run = now;
      draw();
    }).catch(() => {});
    run = null;
    refresh();
    draw();
  }

  async function toggleMode() {
    const mode = status?.mode?.mode === "offline" ? "online" : "offline";
    try {
      await operator.post("/mode", { mode });
      await load();
      toast(mode === "offline" ? words.nowOffline : words.nowOnline);
    } catch (problem) {
      toast(problem.message);
    }
  }

  async function load() {
    const before = status;
    status = await operator.get("/status");
    const news = meaning(before, status);
    if (news) announce(news);
    adopt(status.currentRun);
    draw();
  }

  function draw() {
    fill(syncButton, run ? [h("span", { class: "spinner", "aria-hidden": "true" }), h("span", {}, run.id ? progress(run) : words.syncing), run.id && h("span", { class: "stop" }, words.cancelSync)] : words.syncNow);
    if (!status) return;
    const { backend, queue } = status;
    const byChoice = status.mode?.mode === "offline";
    const attention = needing(status);
    const waiting = open(status);
    pill.className = `pill ${byChoice ? "offline" : backend.state}`;
    fill(pill, byChoice ? (status.mode.until ? words.offlineUntil(status.mode.until) : words.offlineByChoice) : (words.backendState[backend.state] ?? backend.state));
    pill.title = backend.reason ?? "";
    const parts = [];
    if (attention) parts.push(h("a", { href: queue.conflict ? "#/conflicts" : "#/queue?state=quarantined", class: "attention" }, words.needYou(attention)));
    if (waiting) parts.push(h("a", { href: "#/queue" }, words.waitingChanges(waiting)));
    if (!attention && !waiting) parts.push(words.allSent);
    parts.push(status.lastSync ? words.lastSync(status.lastSync) : words.neverSynced);
    if (backend.state !== "online" && backend.nextTry && !byChoice) parts.push(words.nextTry(backend.nextTry));
    fill(detail, parts.flatMap((part, index) => (index ? [" · ", part] : [part])));
    fill(modeButton, byChoice ? words.goOnline : words.goOffline);
    // Loud only when this person's own work is at risk: written here, and cannot leave.
    const stuck = waiting > 0 && obstacle(status);
    loud.hidden = !stuck;
    if (stuck) fill(loud, words.risk(waiting, stuck.reason), " ", h("a", { href: "#/status" }, words.whatToDo));
    badge("queue", waiting + queue.quarantined);
    badge("conflicts", queue.conflict);
  }

  function badge(view, count) {
    const element = document.getElementById(`badge-${view}`);
    if (!element) return;
    element.hidden = count === 0;
    fill(element, shortNumber(count));
  }

  const refresh = coalesce(() => load().catch(() => {}), 60);
  // Times in words grow old by themselves.
  setInterval(draw, 10_000);

  return {
    status: () => status,
    toggleMode,
    load,
    refresh,
    hear(kind) {
      if (kind !== "item") refresh();
    },
  };
}
