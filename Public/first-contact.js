// The backend never answered as it should: what was tried, what came back, and what to do.

import { operator } from "./api.js";
import { h, toast } from "./dom.js";
import { time } from "./formats.js";
import { obstacle } from "./obstacle.js";
import { words } from "./words.js";

/** A card while the backend cannot be used, else nothing. */
export function firstContact(status) {
  const { url } = status.backend;
  const found = obstacle(status);
  if (!found) return null;
  const kind = /tls|certificate|ssl/i.test(found.reason ?? "") ? "tls" : found.state;
  const advice = words.contact[kind] ?? words.contact.offline;
  const isKnown = status.tables.some((table) => table.isComplete);
  const names = status.tables.map((table) => table.name);
  const tryNow = () => operator.post("/sync?wait=0").catch((problem) => toast(problem.message));
  return h("section", { class: "card contact", "aria-labelledby": "contact-title" },
    h("h2", { id: "contact-title" }, isKnown ? advice.title : `${words.firstContact} ${advice.title}`),
    names.length > 0 && [h("h3", {}, words.tried),
      h("pre", { tabindex: "0" }, `GET ${url.replace(/\/$/, "")}/tables/${names[0]}?$top=1`)],
    h("p", {}, h("strong", {}, found.reason), found.since ? ` ${words.sinceTime(time(found.since))}` : "", found.nextTry ? ` · ${words.nextTry(found.nextTry)}` : ""),
    found.state === "notTables" && h("p", {}, words.seenTables(names)),
    h("h3", {}, words.whatToDoTitle),
    h("ol", {}, advice.steps.map((step) => h("li", {}, step))),
    h("p", { class: "quiet-text" }, words.safeMeanwhile),
    h("button", { type: "button", onclick: tryNow }, words.tryAgain));
}
