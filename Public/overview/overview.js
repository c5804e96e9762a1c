// The overview above the queue: its depth, what was sent and failed, the times of answers, failures by cause,
// whether the backend could be reached, and the runs. The figures are those of the ledger.

import { operator } from "../shared/api.js";
import { coalesce } from "../shared/coalesce.js";
import { button, fill, find, h, refill } from "../shared/dom.js";
import { clockTime, time } from "../shared/formats.js";
import { attempt } from "../shared/messages.js";
import { figurePlots, reachText, ribbon } from "./plots.js";
import { failedOf, percentiles, placesOf, ranges, sentOf, stepsOf } from "./state.js";
import { overviewWords as said, runWords } from "./words.js";
import { words } from "../shared/words.js";

const rangeKey = "understudy-overview";
const openKey = "understudy-overview-open";
const runsMost = 500;
const placePixels = 24; // The least size of a target, as WCAG asks.
const pace = { wait: 400, rest: 5000, idle: 60_000 }; // Milliseconds.

/** The panel; `close()` when its view is left. */
export function overview() {
  let range = ranges[localStorage.getItem(rangeKey) ?? ""] ? localStorage.getItem(rangeKey) : "hour";
  /** @type {OverviewStep[]} */
  let steps = [];
  /** @type {Run[]} */
  let runs = [];
  /** @type {number | null} */
  let pointedAt = null; // The beginning of the step under the pointer; null for the latest.

  const shared = { onPoint: point, timeOf: spanOf };
  const plots = figurePlots(shared);
  const reach = ribbon(shared);
  const when = h("p", { class: "when" }, said.loading);
  const choices = h("div", { class: "segments", role: "group", "aria-label": said.rangeLabel });
  const dots = h("div", { class: "run-dots" });
  const table = h("details", { class: "figures-details", ontoggle: drawTable }, h("summary", {}, said.table));
  const figures = h("div", {});
  table.append(figures);
  const element = h("details", { class: "overview card", ontoggle: () => attempt(load) },
    h("summary", { onclick: remember }, h("h2", {}, said.title)),
    h("div", { class: "overview-head" }, choices, when),
    h("div", { class: "plots" }, plots.map((one) => one.element)),
    h("div", { class: "ribbon" },
      h("div", { class: "runs-line" }, h("strong", {}, said.runs), dots), reach.element),
    table);
  element.open = localStorage.getItem(openKey) === "yes";

  function drawChoices() {
    fill(choices, Object.entries(said.ranges).map(([name, label]) =>
      button({ "aria-pressed": String(name === range), onclick: () => choose(name) }, label)));
  }

  function choose(name) {
    range = name;
    localStorage.setItem(rangeKey, name);
    drawChoices();
    find(choices, "[aria-pressed=true]")?.focus();
    attempt(load);
  }

  /** A click on the title opens or closes the panel after this. */
  function remember() {
    localStorage.setItem(openKey, element.open ? "no" : "yes");
  }

  async function load() {
    if (!element.open) return;
    const asked = range;
    const { seconds, step } = ranges[asked ?? "hour"];
    const [samples, latest] = await Promise.all([
      operator.get(`/samples?sinceSeconds=${seconds}&stepSeconds=${step}`),
      operator.get(`/runs?limit=${runsMost}`),
    ]);
    if (asked !== range) return; // Another time was chosen meanwhile.
    steps = stepsOf(samples.items, { seconds, step });
    runs = latest.items;
    draw();
  }

  function draw() {
    for (const one of [...plots, reach]) one.draw(steps);
    const index = steps.findIndex(({ at }) => at === pointedAt);
    point(index < 0 ? null : index);
    drawRuns();
    drawTable();
  }

  /** Shows the values of a step in all plots; null for the latest. */
  function point(index) {
    const step = steps[index ?? steps.length - 1];
    if (!step) return;
    pointedAt = index === null ? null : step.at;
    refill(when, index === null ? said.latest : spanOf(step));
    for (const one of [...plots, reach]) one.point(index);
  }

  function drawRuns() {
    refill(dots, placesOf(runs, steps, dots.clientWidth, placePixels).map(({ share, run, count }) => {
      const state = words.runState[run.state] ?? run.state;
      const one = runWords.label(runWords.kind[run.kind], run.startedAt, state);
      const label = count > 1 ? `${said.runsAt(count, time(run.startedAt))}. ${one}` : one;
      return h("a", {
        class: `run-dot ${run.state}`, href: `#/history/runs/${encodeURIComponent(run.id)}`,
        "aria-label": label, title: label, "data-key": run.id, style: { left: `${share * 100}%` },
      });
    }));
  }

  function drawTable() {
    refill(figures, table.open && figuresTable(steps));
  }

  const update = () => load().catch((problem) => refill(when, problem.message));
  const refresh = coalesce(update, pace.wait, pace.rest);
  const clock = setInterval(refresh, pace.idle);
  const observer = new ResizeObserver(drawRuns);
  observer.observe(dots);
  drawChoices();

  function close() {
    clearInterval(clock);
    observer.disconnect();
    for (const one of [...plots, reach]) one.close();
  }

  return { element, refresh, close };
}

/**
 * "14:15 to 14:30", with the day where it is another one.
 * @param {OverviewStep} step
 */
function spanOf({ at, until }) {
  const from = new Date(at);
  const isToday = from.toDateString() === new Date().toDateString();
  const begin = isToday ? clockTime(at) : time(from.toISOString());
  return said.span(begin, clockTime(until));
}

/** @param {OverviewStep[]} steps */
function figuresTable(steps) {
  const head = [
    said.when, said.depth, said.atMost, `${said.sent} ${said.aMinute}`, `${said.failed} ${said.aMinute}`,
    said.failures, ...percentiles.map((name) => said.percentileHead(said.percentiles[name])), said.backend,
  ];
  return h("div", { class: "scroll figures", tabindex: "0", role: "region", "aria-label": said.table },
    h("table", {}, h("caption", {}, said.tableCaption),
      h("thead", {}, h("tr", {}, head.map((name) => h("th", { scope: "col" }, name)))),
      h("tbody", {}, steps.toReversed().map(row))));
}

/** @param {OverviewStep} step */
function row(step) {
  const { at, sample } = step;
  const name = h("th", { scope: "row" }, time(new Date(at).toISOString()));
  if (!sample) return h("tr", {}, name, h("td", { colspan: "9" }, said.noFigures));
  const failures = sample.failures.map(({ cause, count }) => `${said.causes[cause]} ${said.count(count)}`);
  const cells = [
    said.count(sample.depth), said.count(sample.largestDepth), said.rate(sentOf(step) ?? 0),
    said.rate(failedOf(step) ?? 0), failures.join(", ") || said.noFailures,
    ...percentiles.map((name) => said.answerTime(sample[name])), reachText(step),
  ];
  return h("tr", {}, name, cells.map((text) => h("td", {}, text)));
}
