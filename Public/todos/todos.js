// The todos: shows the list of one table (list.js), or asks which table has them (table-choice.js).

import { coalesce } from "../shared/coalesce.js";
import { button, fill, find, h } from "../shared/dom.js";
import { attempt } from "../shared/messages.js";
import { tableChoice } from "./table-choice.js";
import { todoList } from "./list.js";
import {
  isSame, isStandard, keepSource, keptSource, knownTables, likelyColumns, named, standard,
} from "./source.js";
import { views, words } from "../shared/words.js";

/** @type {ViewMaker} */
export function todosView(main, asked, { toggleMode }) {
  let route = asked;
  /** @type {KnownTable[]} */
  let known = [];
  let list = null; // The todos on screen.
  let isThere = true; // Whether their table is there.
  /** @type {TableItem[]} */
  let shown = []; // Their rows.
  let choice = null; // The question on screen.
  let hasLeft = false; // Another view is on screen.
  const source = h("div", { class: "source", hidden: true });
  const body = h("div", {});
  fill(main, h("section", { class: "page" },
    h("h1", { class: "visually-hidden" }, views.todos), source, body));

  /** Keeps the list where its table is there, else shows another table or asks for one. */
  async function settle() {
    const found = await knownTables();
    if (hasLeft) return;
    known = found;
    if (choice) {
      choice.offer(known);
      return;
    }
    if (isThere || named(known, list.source.table)) {
      drawSource();
      return;
    }
    const own = named(known, standard.table);
    if (own || known.length === 0) {
      show({ ...standard, table: own ?? standard.table });
      return;
    }
    clear();
    choice = tableChoice(known, { title: words.choice.title, choose });
    fill(body, choice.element);
  }

  function clear() {
    list?.close();
    list = choice = null;
    source.hidden = true;
  }

  function show(wanted) {
    // What is on screen stays there, with its focus and what is half typed.
    if (list && isSame(list.source, wanted)) {
      drawSource();
      return;
    }
    clear();
    [isThere, shown] = [true, []];
    let isFirst = true;
    list = todoList(body, wanted, route, {
      toggleMode,
      isMissing: () => !isThere && known.length === 0,
      onLoad(rows, isThereNow) {
        if (hasLeft) return; // The answer came after another view was shown.
        const isNews = isFirst || isThere !== isThereNow;
        [isFirst, isThere, shown] = [false, isThereNow, rows];
        if (isNews) again();
        else drawSource();
      },
    });
    drawSource();
  }

  /** Says which table the todos come from, where there are others. */
  function drawSource() {
    if (choice || source.contains(document.activeElement)) return;
    const now = list.source;
    const isOdd = shown.length > 0 && !shown.some((row) => now.text in row.item);
    source.hidden = known.length === 0 || (isStandard(now) && known.length === 1 && !isOdd);
    fill(source,
      h("span", { class: "quiet-text" }, isOdd ? oddText(now, shown) : words.choice.shown(now.table)),
      button({ class: "small", onclick: () => ask(now) }, words.choice.change));
    list.redraw();
  }

  function ask(now) {
    clear();
    const cancel = () => {
      show(now);
      find(source, "button")?.focus();
    };
    choice = tableChoice(known, { now, title: words.choice.another, choose, cancel });
    fill(body, choice.element);
    find(choice.element, "select")?.focus();
  }

  function choose(chosen) {
    keepSource(chosen);
    show(chosen);
    find(body, "input")?.focus();
  }

  const again = coalesce(() => attempt(settle), 20);
  show(keptSource() ?? standard);
  return {
    refresh: () => (list ? list.refresh() : again()),
    onLeave() {
      hasLeft = true;
      clear();
    },
    get keys() {
      return list?.keys;
    },
    navigate(next) {
      route = next;
      list?.navigate(next);
    },
    onEvent(kind, { table }) {
      if (kind !== "item" && kind !== "operation" && kind !== "conflict") return;
      if (list && (!table || table.toLowerCase() === list.source.table.toLowerCase())) list.refresh();
      // The first row of a table makes it one that can be chosen.
      if (table && !named(known, table)) again();
    },
  };
}

/** The rows have no column of that name. */
function oddText({ table, text }, rows) {
  const likely = likelyColumns(rows.map((row) => row.item));
  return words.choice.odd(table, text, likely.text);
}
