// The runs: a list of the latest first, and one of them with what its push and its pulls did.

import { operator } from "../shared/api.js";
import { coalesce } from "../shared/coalesce.js";
import { button, facts, h, refill } from "../shared/dom.js";
import { length, number, time } from "../shared/formats.js";
import { attempt } from "../shared/messages.js";
import { words } from "../shared/words.js";
import { runWords as said } from "../overview/words.js";

const pageSize = 50;
const runsMost = 500; // The most that one request gives.

const addressOf = (id) => `#/history/runs/${encodeURIComponent(id)}`;
const stateOf = (run) => words.runState[run.state] ?? run.state;

/** @type {HistoryPart} */
export function runsPart(place, asked) {
  let id = asked.rest[1] ?? null;
  let wanted = pageSize;

  async function load() {
    const shown = id;
    if (shown !== null) {
      const run = await operator.get(`/runs/${encodeURIComponent(shown)}`).catch((problem) => {
        if (problem.status !== 404) throw problem;
        return null;
      });
      if (shown === id) refill(place, runCard(shown, run));
      return;
    }
    const { items, total } = await operator.get(`/runs?limit=${wanted}`);
    if (id !== null) return; // One of them was opened meanwhile.
    const canMore = items.length < total && wanted < runsMost;
    refill(place,
      items.length ? runsTable(items) : h("p", { class: "empty" }, said.none),
      canMore && button({ "data-key": "more", onclick: more }, words.more));
  }

  function more() {
    wanted = Math.min(wanted + pageSize, runsMost);
    refresh();
  }

  const refresh = coalesce(() => attempt(load), 120, 500);
  refresh();
  return {
    refresh,
    navigate(next) {
      id = next.rest[1] ?? null;
      refresh();
    },
    onEvent(kind) {
      if (kind === "run") refresh();
    },
  };
}

/** How long a run took; a running one says so. */
const tookOf = ({ startedAt, endedAt }) =>
  endedAt ? length(Date.parse(endedAt) - Date.parse(startedAt)) : said.stillRunning;

const sum = (run, name) => run.pull.reduce((total, pull) => total + pull[name], 0);

/** @param {Run[]} runs */
function runsTable(runs) {
  const head = [
    said.started, said.result, said.took, said.sent, said.applied, said.conflicts, said.refused,
    said.received, said.reason,
  ];
  const counts = (run) => {
    const { sent = 0, applied = 0, conflicts = 0, quarantined = 0 } = run.push ?? {};
    return [sent, applied, conflicts, quarantined, sum(run, "received")];
  };
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": said.runs },
    h("table", { class: "grid runs" },
      h("thead", {}, h("tr", {}, head.map((name, index) =>
        h("th", { scope: "col", class: index > 1 && index < 8 ? "number" : "" }, name)))),
      h("tbody", {}, runs.map((run) => h("tr", { "data-row": true, "data-key": run.id },
        h("th", { scope: "row", class: "one-line" },
          h("a", { href: addressOf(run.id), "data-open": true },
            `${said.kind[run.kind]}, ${time(run.startedAt)}`)),
        h("td", { class: "one-line" }, stateTag(run)),
        h("td", { class: "one-line number" }, tookOf(run)),
        counts(run).map((count) => h("td", { class: "one-line number" }, number(count))),
        h("td", { class: "one-line clipped", title: run.reason }, run.reason ?? ""))))));
}

const stateTag = (run) => h("span", { class: `tag run-${run.state}` }, stateOf(run));

/** @param {Run | null} run */
function runCard(id, run) {
  const back = h("p", {}, h("a", { href: "#/history/runs", "data-key": "back" }, `← ${said.back}`));
  if (!run) return [back, h("p", { class: "empty" }, said.noRun(id))];
  const { push } = run;
  return [back, h("article", { class: "card", "aria-labelledby": "run-title" },
    h("h2", { id: "run-title" }, said.runOf(said.kind[run.kind], run.startedAt)),
    h("p", {}, stateTag(run)),
    run.reason && h("p", {}, run.reason),
    facts([[said.started, time(run.startedAt)], [said.took, tookOf(run)]]),
    push && [h("h3", {}, said.push), facts([
      [said.sent, number(push.sent)], [said.applied, number(push.applied)],
      [said.conflicts, number(push.conflicts)], [said.refused, number(push.quarantined)],
      [said.left, number(push.left)],
    ], "facts numbers")],
    run.pull.length > 0 && [h("h3", {}, said.pulls), pullsTable(run.pull)])];
}

/** @param {PullReport[]} pulls */
function pullsTable(pulls) {
  const names = /** @type {const} */ (["requests", "received", "applied", "skippedDirty", "deleted"]);
  const head = [said.requests, said.received, said.changed, said.skipped, said.removed];
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": said.pulls },
    h("table", { class: "grid" },
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, words.table),
        head.map((name) => h("th", { scope: "col", class: "number" }, name)),
        h("th", { scope: "col" }, said.problem))),
      h("tbody", {}, pulls.map((pull) => h("tr", {},
        h("th", { scope: "row" }, pull.table),
        names.map((name) => h("td", { class: "one-line number" }, number(pull[name]))),
        h("td", {}, pull.error ?? ""))))));
}
