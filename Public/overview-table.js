// The figures of the overview as a table.

import { h } from "./dom.js";
import { time } from "./formats.js";
import { reachText } from "./overview-plots.js";
import { failedOf, percentiles, sentOf } from "./overview-state.js";
import { overviewWords as said } from "./words-overview.js";

/** @param {OverviewStep[]} steps */
export function figuresTable(steps) {
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
