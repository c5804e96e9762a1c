// The card of a backend that cannot be used: what was tried, what came back, and what to do.

import { operator } from "../shared/api.js";
import { failing, obstacle } from "../shared/connection-state.js";
import { button, h, note } from "../shared/dom.js";
import { showProblem } from "../shared/messages.js";
import { contactWords as said } from "./words.js";
import { words } from "../shared/words.js";

/** @param {Status} status */
export function firstContact(status) {
  const found = obstacle(status);
  if (!found) return null;
  const advice = adviceFor(found);
  const isKnown = status.tables.some((table) => table.isComplete);
  const names = status.tables.map((table) => table.name);
  const tryNow = () => operator.post("/sync?wait=0").catch(showProblem);
  return h("section", { class: "card contact", "aria-labelledby": "contact-title" },
    h("h2", { id: "contact-title" }, isKnown ? advice.title : said.first(advice.title)),
    tried(status.backend.url, found.failedRequest),
    h("p", {},
      h("strong", {}, found.reason),
      found.since ? ` ${said.since(found.since)}` : "",
      found.nextTry ? ` · ${words.nextTry(found.nextTry)}` : ""),
    found.state === "notTables" && h("p", {}, said.seenTables(names)),
    h("h3", {}, said.whatToDo),
    h("ol", {}, advice.steps.map((step) => h("li", {}, step))),
    note(said.safeMeanwhile),
    button({ onclick: tryNow }, said.tryAgain));
}

function adviceFor({ reason, state }) {
  const isSecurity = /tls|certificate|ssl/i.test(reason ?? "");
  return said.advice[isSecurity ? "tls" : state] ?? said.advice.offline;
}

/** The request that failed, which is what a person can look into. */
function tried(url, request) {
  if (!request) return null;
  const host = (url ?? "").replace(/^(\w+:\/\/[^/]*).*$/, "$1");
  return [
    h("h3", {}, said.tried),
    h("pre", { tabindex: "0" }, `${request.method} ${host}${request.path}`),
    h("p", {}, said.cameBack(request.status, request.at)),
  ];
}

/**
 * The card of the tables that the backend fails for while it answers otherwise; null without one.
 * @param {Status} status
 */
export function failingTables(status) {
  const found = failing(status);
  if (found.length === 0) return null;
  return h("section", { class: "card contact", "aria-labelledby": "failing-title" },
    h("h2", { id: "failing-title" }, said.failing(found.map(({ name }) => name))),
    found.map(({ kind, wait }) => [
      h("p", {},
        h("strong", {}, said.waits[kind]), ` ${wait.reason} ${said.since(wait.since)}`,
        ` · ${words.nextTry(wait.nextTry)}`, wait.isNamed && ` ${said.named}`),
      tried(status.backend.url, wait.failedRequest),
    ]),
    note(said.othersWork));
}
