// Why changes wait: one line with the largest cause, which opens as a table of the causes, each with its
// share, and what can be done about all of one cause. Its height stays the same while the filter does, so
// that the list below does not move.

import { button, h, refill } from "../shared/dom.js";
import { distance, number, time } from "../shared/formats.js";
import { stateTag } from "./rows.js";
import { addressOf, ofCause } from "./state.js";
import { queueWords as said } from "./words.js";
import { words } from "../shared/words.js";

export const causesShown = 6;
const openKey = "understudy-causes-open";
export const causesMost = 500; // The API gives no more at once.

/**
 * Builds the table. `act(action, group)` retries or discards all of a cause; `showAll(isAll)` is told whether
 * all causes are wanted.
 */
export function causesTable({ act, showAll }) {
  const count = h("span", { class: "quiet-text" });
  const more = button({ class: "small", hidden: true });
  const body = h("tbody", {});
  const heads = [said.changes, said.state, said.status, said.cause, said.firstSeen, said.lastSeen, ""];
  const table = h("table", { class: "causes" },
    h("thead", {}, h("tr", {}, heads.map((name) => (name ? h("th", { scope: "col" }, name) : h("td", {}))))),
    body);
  const element = h("details", { class: "cause-part", ontoggle },
    h("summary", {}, h("h2", {}, said.causes), " ", count),
    table, more);
  element.open = localStorage.getItem(openKey) === "yes";
  let rowsMost = 0; // The first answer for a filter sets it, so that the height stays.
  let key = "";

  function ontoggle() {
    localStorage.setItem(openKey, element.open ? "yes" : "no");
    element.style.minHeight = "";
  }

  /**
   * @param {OperationGroup[]} groups
   * @param {{ total: number, operations: number, isAll: boolean, filter: QueueFilter }} around The number of
   *   all causes and of all operations that match.
   */
  function draw(groups, { total, operations, isAll, filter }) {
    const asked = `${isAll} ${addressOf({ ...filter, id: null })}`;
    if (key !== asked) {
      [key, rowsMost] = [asked, isAll ? groups.length : Math.min(causesShown, groups.length)];
      element.style.minHeight = "";
    }
    const shown = groups.slice(0, Math.max(rowsMost, isAll ? groups.length : 0));
    element.hidden = filter.reason !== "";
    table.hidden = shown.length === 0;
    const [first] = groups;
    refill(count, first ? said.causeCount(total, isAll ? shown.length : total) : said.noCauses,
      first && h("span", { class: "largest" }, said.largest(first.count, short(first.reason))));
    const sum = groups.reduce((all, group) => all + group.count, 0);
    refill(body, shown.map((group) => row(group, Math.max(operations, sum), filter)));
    more.hidden = !isAll && total <= shown.length;
    refill(more, isAll ? said.fewerCauses : said.allCauses(total));
    more.onclick = () => showAll(!isAll);
    if (!element.hidden && element.open) element.style.minHeight = `${element.offsetHeight}px`;
  }

  /** @param {OperationGroup} group */
  function row(group, operations, filter) {
    const { state, status, reason, since, firstTriedAt, lastTriedAt } = group;
    const width = `${(100 * group.count) / Math.max(1, operations)}%`;
    const share = h("span", { class: "share", "aria-hidden": "true", style: { width } });
    const seen = (name, at) => h("td", { class: "seen", "data-name": name, title: time(at) }, distance(at));
    const key = `${state} ${status} ${reason}`;
    const action = (name, label) => button({
      class: "small", "data-key": name, "aria-label": said.ofCause[name](group.count, reason),
      onclick: () => act(name, group),
    }, label);
    return h("tr", { "data-key": key },
      h("td", { class: "amount" },
        h("strong", {}, number(group.count)), h("span", { class: "bar-of" }, share)),
      h("td", { class: "in" }, stateTag(state)),
      h("td", { class: "status" }, status ?? said.none),
      h("td", { class: "cause" },
        h("a", {
          href: addressOf(ofCause(filter, group)), title: reason, dir: "auto",
        }, short(reason))),
      seen(said.firstSeen, firstTriedAt ?? since), seen(said.lastSeen, lastTriedAt ?? since),
      h("td", {}, h("div", { class: "actions" },
        state === "conflict"
          ? h("a", { class: "button small", href: "#/conflicts" }, words.lookNow)
          : [action("retry", said.retry), action("discard", said.discard)])));
  }

  return { element, draw };
}

/** The reason without its beginning, which the columns of state and status say as well. */
const short = (reason) => reason.replace(/^The backend refused it with [#\d]+: /, "");
