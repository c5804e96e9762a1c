// The line at the top: where the backend is, what waits, what needs the person, and Sync now.
// What it says is decided in connection-state.js.

import { operator } from "./api.js";
import { coalesce } from "./coalesce.js";
import {
  announcement, isOfflineByChoice, needing, obstacle, stateText, waiting,
} from "./connection-state.js";
import { button, fill, h } from "./dom.js";
import { shortNumber } from "./formats.js";
import { announce, attempt, toast } from "./messages.js";
import { cancel, follow, progress, sentence, watch } from "./runs.js";
import { words } from "./words.js";

const longRunMilliseconds = 600; // A shorter run is not shown: it would only flicker.
const redrawMilliseconds = 10_000;

/**
 * Builds the line in `element`. `status()` is the last status that was read.
 * @returns {Connection}
 */
export function connection(element) {
  /** @type {Status | null} */
  let status = null;
  /** @type {any} */
  let run = null;
  const drawLine = connectionLine(element, { sync, toggleMode });
  const draw = () => drawLine(status, run);

  const onProgress = (now) => {
    run = now;
    draw();
  };

  function endRun() {
    run = null;
    refresh();
    draw();
  }

  async function sync() {
    if (run) {
      if (run.id) cancel(run);
      return;
    }
    onProgress({ id: null });
    await attempt(async () => toast(sentence(await follow("/sync", {}, onProgress))));
    endRun();
  }

  async function adopt(other) {
    if (run || !other) return;
    if (Date.now() - Date.parse(other.startedAt) < longRunMilliseconds) {
      setTimeout(refresh, longRunMilliseconds);
      return;
    }
    run = other;
    await watch(other, onProgress).catch(() => {});
    endRun();
  }

  async function toggleMode() {
    const mode = status && isOfflineByChoice(status) ? "online" : "offline";
    await attempt(async () => {
      await operator.post("/mode", { mode });
      await load();
      toast(mode === "offline" ? words.nowOffline : words.nowOnline);
    });
  }

  async function load() {
    const now = await operator.get("/status");
    const news = announcement(status, now);
    status = now;
    if (news) announce(news);
    adopt(now.currentRun);
    draw();
  }

  const refresh = coalesce(() => load().catch(() => {}), 60);
  setInterval(draw, redrawMilliseconds); // Its times are relative to now.

  return {
    status: () => status,
    toggleMode,
    load,
    refresh,
    onEvent(kind) {
      if (kind !== "item") refresh();
    },
  };
}

/** Builds the line. Gives a function that draws it. */
function connectionLine(element, { sync, toggleMode }) {
  const warning = h("p", { class: "loud", hidden: true });
  const pill = h("a", { class: "pill", href: "#/status" });
  const detail = h("span", { class: "detail" });
  const syncButton = button({ class: "primary", onclick: sync }, words.syncNow);
  const modeButton = button({ onclick: toggleMode });
  fill(element,
    h("div", { class: "state" }, pill, detail),
    h("div", { class: "actions" }, modeButton, syncButton));
  element.after(warning);

  /**
   * @param {Status | null} status
   * @param {FollowedRun | null} run
   */
  return function draw(status, run) {
    fill(syncButton, run ? runLabel(run) : words.syncNow);
    if (!status) return;
    const isOffline = isOfflineByChoice(status);
    pill.className = `pill ${isOffline ? "offline" : status.backend.state}`;
    pill.title = status.backend.reason;
    fill(pill, stateText(status));
    fill(detail, details(status).flatMap((part, index) => (index ? [" · ", part] : [part])));
    fill(modeButton, isOffline ? words.goOnline : words.goOffline);
    drawWarning(warning, status);
    drawBadge("queue", waiting(status) + status.queue.quarantined);
    drawBadge("conflicts", status.queue.conflict);
  };
}

/**
 * What the button shows during a run; one without an id cannot be stopped yet.
 * @param {FollowedRun} run
 */
const runLabel = (run) => [
  h("span", { class: "spinner", "aria-hidden": "true" }),
  h("span", {}, run.id ? progress(run) : words.syncing),
  run.id && h("span", { class: "stop" }, words.cancelSync),
];

/** @param {Status} status */
function details(status) {
  const { backend, queue, lastSync } = status;
  const [attention, open] = [needing(status), waiting(status)];
  const place = queue.conflict ? "#/conflicts" : "#/queue?state=quarantined";
  const isTriedAgain = backend.state !== "online" && backend.nextTry && !isOfflineByChoice(status);
  return [
    attention > 0 && h("a", { href: place, class: "attention" }, words.needYou(attention)),
    open > 0 && h("a", { href: "#/queue" }, words.waitingChanges(open)),
    !attention && !open && words.allSent,
    lastSync ? words.lastSync(lastSync) : words.neverSynced,
    isTriedAgain && words.nextTry(backend.nextTry),
  ].filter(Boolean);
}

/** Warns of a person's work that is at risk: it was written here and cannot be sent. */
function drawWarning(warning, status) {
  const open = waiting(status);
  const found = open > 0 ? obstacle(status) : null;
  warning.hidden = !found;
  if (found) fill(warning, words.risk(open, found.reason), " ", h("a", { href: "#/status" }, words.whatToDo));
}

function drawBadge(view, count) {
  const badge = document.getElementById(`badge-${view}`);
  if (!badge) return;
  badge.hidden = count === 0;
  fill(badge, shortNumber(count));
}
