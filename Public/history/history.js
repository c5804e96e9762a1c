// The history: its changes (changes.js) or the runs (runs.js).

import { fill, h } from "../shared/dom.js";
import { changesPart } from "./changes.js";
import { runsPart } from "./runs.js";
import { views } from "../shared/words.js";
import { runWords } from "../overview/words.js";

const parts = { changes: changesPart, runs: runsPart };
const addresses = { changes: "#/history", runs: "#/history/runs" };

const nameOf = (route) => (route.rest[0] === "runs" ? "runs" : "changes");

/** @type {ViewMaker} */
export function historyView(main, asked, header) {
  const place = h("div", {});
  const links = h("nav", { class: "parts", "aria-label": runWords.which },
    Object.entries(addresses).map(([name, href]) => h("a", { href, "data-part": name },
      h("span", { class: "reserve", "data-label": runWords[name] }, runWords[name]))));
  fill(main, h("section", { class: "page medium" }, h("h1", {}, views.history), links, place));
  let name = "";
  /** @type {ReturnType<HistoryPart>} */
  let part;
  show(asked);

  function show(route) {
    const wanted = nameOf(route);
    if (wanted === name) return part.navigate(route);
    part?.onLeave?.();
    name = wanted;
    for (const link of links.children) {
      if (link.getAttribute("data-part") === name) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
    fill(place);
    part = parts[name](place, route, header);
  }

  return {
    refresh: () => part.refresh(),
    navigate: show,
    onEvent: (kind) => part.onEvent(kind),
    onLeave: () => part.onLeave?.(),
  };
}
