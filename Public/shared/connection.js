// The line at the top: where the backend is, what waits, what needs the person, and Sync now.
// What it says is decided in connection-state.js.

import { operator } from "./api.js";
import { coalesce } from "./coalesce.js";
import {
  announcement, failing, isAllSent, isOfflineByChoice, linkState, needing, obstacle, stateText, unsent,
  decisionStates, waiting,
} from "./connection-state.js";
import { button, fill, h, refill } from "./dom.js";
import { shortNumber } from "./formats.js";
import { announce, attempt, toast } from "./messages.js";
import { retryWatch } from "../queue/outcomes.js";
import { cancel, follow, progress, sentence, watch } from "./runs.js";
import { words } from "./words.js";

const longRunMilliseconds = 600; // A shorter run is not shown: it would only flicker.
const redrawMilliseconds = 10_000;
const restMilliseconds = 500; // Between two requests for the status.

/**
 * Builds the line in `element`. `status()` is the last status that was read.
 * @returns {Connection}
 */
export function connection(element) {
  /** @type {Status | null} */
  let status = null;
  /** @type {any} */
  let run = null;
  /** @type {PageLink} */
  let link = "connected";
  let isAnswering = true; // Whether Understudy answered the last request of this line.
  let heardAt = new Date().toISOString(); // When it last did.
  let met = { id: "", at: 0 }; // The run of another program, and when this page first heard of it.
  /** @type {Set<(status: Status) => void>} */
  const listeners = new Set();
  const drawLine = connectionLine(element, { sync, toggleMode });
  const draw = () =>
    drawLine(status, run, link === "connected" && isAnswering ? null : { link, isAnswering, heardAt });

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
    if (status && isOfflineByChoice(status)) {
      toast(words.syncIsOff, { label: words.goOnline, run: toggleMode });
      return;
    }
    onProgress({ id: null });
    await attempt(async () => {
      const ended = await follow("/sync", {}, onProgress);
      await load();
      toast(sentence(ended, status));
    });
    endRun();
  }

  async function adopt(other) {
    if (run || !other) return;
    if (met.id !== other.id) met = { id: other.id, at: performance.now() };
    // The clock may have been set back, or be that of another device.
    const age = Math.max(Date.now() - Date.parse(other.startedAt), performance.now() - met.at);
    if (age < longRunMilliseconds) {
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
      toast(modeSentence(mode, status));
    });
  }

  async function load() {
    const now = await operator.get("/status").catch((problem) => {
      isAnswering = problem.status !== 0;
      draw();
      throw problem;
    });
    isAnswering = true;
    heardAt = new Date().toISOString();
    const news = announcement(status, now);
    status = now;
    if (news) announce(news);
    adopt(now.currentRun);
    draw();
    document.dispatchEvent(new Event("understudy-status"));
    for (const listen of listeners) listen(now);
  }

  const refresh = coalesce(() => load().catch(() => {}), 60, restMilliseconds);
  setInterval(draw, redrawMilliseconds); // Its times are relative to now.

  const isRunning = () => run !== null || (status?.currentRun ?? null) !== null;
  const retries = retryWatch(isRunning);

  return {
    status: () => status,
    isRunning,
    retried: retries.begin,
    /** Calls `listen(status)` with each status that is read, until the function that this gives is called. */
    listen(listen) {
      listeners.add(listen);
      return () => listeners.delete(listen);
    },
    toggleMode,
    load,
    refresh,
    sync,
    /** The stream of events began, or broke off. */
    setFollowing(now) {
      link = now;
      if (now !== "connected") isAnswering = false; // Until the next answer says otherwise.
      draw();
      refresh();
    },
    // An item may be the first that is known of a run that another program started.
    onEvent() {
      refresh();
      retries.look();
    },
  };
}

/** Builds the line. Gives a function that draws it. */
function connectionLine(element, { sync, toggleMode }) {
  const warning = h("span", { class: "loud", hidden: true });
  const pill = h("a", { class: "pill", href: "#/status" });
  const detail = h("span", { class: "detail" });
  const syncButton = button({ class: "primary sync", onclick: sync }, words.syncNow);
  const strip = progressStrip();
  const modeButton = button({ onclick: toggleMode });
  // All of it is on one line at every width: a longer text must not move the view below.
  fill(element,
    h("div", { class: "state" }, h("span", { class: "pill-place" }, pill), detail, warning),
    h("div", { class: "actions" }, modeButton, syncButton));
  element.after(strip.element);

  /**
   * @param {Status | null} status
   * @param {FollowedRun | null} run
   * @param {{ link: PageLink, isAnswering: boolean, heardAt: string } | null} silence While no events arrive.
   */
  return function draw(status, run, silence) {
    refill(syncButton, run ? stopLabel() : words.syncNow);
    strip.draw(run);
    element.classList.toggle("stale", silence !== null);
    const isSignedOut = silence?.link === "signedOut";
    const isStopped = silence !== null && (isSignedOut || !silence.isAnswering);
    if (isStopped) refill(pill, isSignedOut ? words.signedOut : words.understudyStopped);
    if (!status) return;
    pill.className = `pill ${isStopped ? "stopped" : linkState(status, run)}`;
    pill.title = isStopped ? "" : status.backend.reason;
    if (!isStopped) refill(pill, stateText(status, run));
    const risk = isStopped ? null : riskOf(status);
    warning.hidden = !risk;
    if (risk) {
      refill(warning, h("span", { title: risk }, risk), h("a", { href: "#/status" }, words.whatToDo));
    }
    refill(detail, withDots(isStopped ? stoppedDetails(status, silence) : details(status, run)));
    detail.title = detail.textContent ?? ""; // A narrow page cuts it off.
    refill(modeButton, isOfflineByChoice(status) ? words.goOnline : words.goOffline);
    drawBadge("queue", unsent(status));
    drawBadge("conflicts", status.queue.conflict);
  };
}

/** Dots between the parts. Neighbouring texts are one, whose beginning stays where it is. */
function withDots(parts) {
  const line = [];
  for (const part of parts.flatMap((one, index) => (index ? [" · ", one] : [one]))) {
    if (typeof part === "string" && typeof line.at(-1) === "string") line.push(line.pop() + part);
    else line.push(part);
  }
  return line;
}

/** What the button shows during a run. It is no wider than what it shows else. */
const stopLabel = () => [h("span", { class: "spinner", "aria-hidden": "true" }), words.cancelSync];

/** The strip under the header: how much of a run is done. */
function progressStrip() {
  const bar = h("div", {});
  const element = h("div", {
    class: "strip", role: "progressbar", "aria-label": words.syncing, hidden: true,
    "aria-valuemin": 0, "aria-valuemax": 100,
  }, bar);

  /** @param {FollowedRun | null} run */
  function draw(run) {
    element.hidden = !run;
    const { done = 0, total = null } = run?.progress ?? {};
    const percent = total ? Math.min(100, Math.floor((100 * done) / total)) : null;
    bar.style.width = `${percent ?? 100}%`;
    element.classList.toggle("endless", percent === null);
    if (percent === null) element.removeAttribute("aria-valuenow");
    else element.setAttribute("aria-valuenow", String(percent));
  }

  return { element, draw };
}

/**
 * What comes and goes is at the end, so that the links before it stay where they are.
 * @param {Status} status
 * @param {FollowedRun | null} run
 */
function details(status, run) {
  const { backend, queue, lastSync } = status;
  const [attention, open] = [needing(status), unsent(status)];
  // The place shows as many as the link says.
  const place = queue.conflict === attention ? "#/conflicts"
    : `#/queue?state=${queue.conflict ? decisionStates : "quarantined"}`;
  const isAway = !["online", "workingOffline", "notAsked"].includes(linkState(status, run));
  return [
    attention > 0 && h("a", { href: place, class: "attention" }, words.needDecision(attention)),
    unsentLink(open, attention > 0),
    open === 0 && !run && (isAllSent(status) ? words.allSent : words.nothingUnsent),
    failingLink(status),
    pausedLink(status),
    run && h("span", { class: "run" }, run.id ? progress(run) : words.syncing),
    !run && (lastSync ? words.lastSync(lastSync) : words.neverSynced),
    isAway && !run && waiting(status) === 0 && backend.reason.replace(/\.$/, ""), // Else the warning has it.
    isAway && !run && backend.nextTry && words.nextTry(backend.nextTry),
  ].filter(Boolean);
}

/** What is still true while Understudy does not answer, or not to this browser. */
const stoppedDetails = (status, { link, heardAt }) => [
  unsentLink(unsent(status)),
  link === "signedOut" ? words.lastHeardSignedOut(heardAt) : words.lastHeard(heardAt),
].filter(Boolean);

/** @param {Status} status */
function failingLink(status) {
  const names = [...new Set(failing(status).map(({ name }) => name))];
  return names.length > 0 && h("a", { href: "#/status", class: "attention" }, words.tablesFail(names));
}

/** @param {Status} status */
function pausedLink({ tables }) {
  const names = tables.filter(({ pause }) => pause !== "nothing").map(({ name }) => name);
  const href = `#/tables/${encodeURIComponent(names[0])}`;
  return names.length > 0 && h("a", { href, class: "attention" }, words.tablesPaused(names));
}

/** `isInAll` says that those which need a decision stand beside it and are among them. */
const unsentLink = (count, isInAll = false) => count > 0 &&
  h("a", { href: "#/queue" }, isInAll ? words.unsentInAll(count) : words.unsentChanges(count));

/**
 * What is said of a person's work that was written here and cannot be sent; null where there is none.
 * @param {Status} status
 */
function riskOf(status) {
  const open = waiting(status);
  const found = open > 0 ? obstacle(status) : null;
  return found && words.risk(open, found.reason);
}

/**
 * What is said when the mode was changed.
 * @param {ModeRequest["mode"]} mode
 * @param {Status | null} status
 */
export function modeSentence(mode, status) {
  if (mode === "offline" || !status) return words.nowOffline;
  return words.nowOnline(waiting(status), needing(status));
}

function drawBadge(view, count) {
  const badge = document.getElementById(`badge-${view}`);
  if (!badge) return;
  badge.hidden = count === 0;
  refill(badge, shortNumber(count));
}
