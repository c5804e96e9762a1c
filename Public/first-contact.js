// The card of a backend that cannot be used: what was tried, what came back, and what to do.

import { operator } from "./api.js";
import { obstacle } from "./connection-state.js";
import { button, h, note } from "./dom.js";
import { showProblem } from "./messages.js";
import { contactWords as said } from "./words-settings.js";
import { words } from "./words.js";

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
    names.length > 0 && [
      h("h3", {}, said.tried),
      h("pre", { tabindex: "0" }, triedRequest(status.backend.url, names[0])),
    ],
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

function triedRequest(url, table) {
  return `GET ${(url ?? "").replace(/\/$/, "")}/tables/${table}?$top=1`;
}
