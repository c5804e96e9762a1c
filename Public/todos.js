// The todos: which table they are in, or what to do as long as there is none.

import { coalesce, fill, h, toast } from "./dom.js";
import { tableChoice } from "./table-choice.js";
import { todoList } from "./todo-list.js";
import { isSame, isStandard, keepSource, keptSource, knownTables, likelyColumns, named, standard } from "./todo-source.js";
import { views, words } from "./words.js";

export function todosView(main, asked, { toggleMode }) {
  let route = asked;
  let known = [];
  let list = null; // The todos on screen.
  let isThere = true; // Whether their table is.
  let shown = []; // Their rows.
  let choice = null; // The question on screen.
  let isLeft = false; // Another view is on screen.
  const source = h("div", { class: "source", hidden: true });
  const body = h("div", {});
  fill(main, h("section", { class: "page" }, h("h1", { class: "visually-hidden" }, views.todos), source, body));

  /** Goes on with what is known of the tables: the list stays where its table is there, else the question is asked. */
  async function settle() {
    const found = await knownTables();
    if (isLeft) return;
    known = found;
    if (choice) return choice.offer(known);
    if (isThere || named(known, list.source.table)) return drawSource();
    const own = named(known, standard.table);
    if (own || !known.length) return show({ ...standard, table: own ?? standard.table });
    leave();
    choice = tableChoice(known, { title: words.choice.title, choose });
    fill(body, choice.element);
  }

  function leave() {
    list?.leave();
    list = choice = null;
    source.hidden = true;
  }

  function show(wanted) {
    // What is on screen stays there, with its focus and what is half typed.
    if (list && isSame(list.source, wanted)) return drawSource();
    leave();
    [isThere, shown] = [true, []];
    let isFirst = true;
    list = todoList(body, wanted, route, {
      toggleMode,
      isMissing: () => !isThere && known.length === 0,
      loaded(rows, isThere_) {
        const isNews = isFirst || isThere !== isThere_;
        [isFirst, isThere, shown] = [false, isThere_, rows];
        if (isNews) again();
        else drawSource();
      },
    });
    drawSource();
  }

  /** Says where the todos come from, unless there is nothing to say about it. */
  function drawSource() {
    if (choice || source.contains(document.activeElement)) return;
    const now = list.source;
    const isOdd = shown.length > 0 && !shown.some((row) => now.text in row.item);
    source.hidden = known.length === 0 || (isStandard(now) && known.length === 1 && !isOdd);
    const from = isOdd ? words.choice.odd(now.table, now.text, likelyColumns(shown.map((row) => row.item)).text) : words.choice.shown(now.table);
    fill(source, h("span", { class: "quiet-text" }, from), h("button", { type: "button", class: "small", onclick: () => ask(now) }, words.choice.change));
    list.redraw();
  }

  /** Asks anew, with what is shown so far chosen already. */
  function ask(now) {
    leave();
    const back = () => {
      show(now);
      source.querySelector("button").focus();
    };
    choice = tableChoice(known, { now, title: words.choice.another, choose, cancel: back });
    fill(body, choice.element);
    choice.element.querySelector("select").focus();
  }

  function choose(chosen) {
    keepSource(chosen);
    show(chosen);
    body.querySelector("input")?.focus();
  }

  const again = coalesce(() => settle().catch((problem) => toast(problem.message)), 20);
  show(keptSource() ?? standard);
  return {
    refresh: () => (list ? list.refresh() : again()),
    leave() {
      isLeft = true;
      leave();
    },
    get keys() {
      return list?.keys;
    },
    navigate(next) {
      route = next;
      list?.navigate(next);
    },
    hear(kind, event) {
      if (kind !== "item" && kind !== "operation" && kind !== "conflict") return;
      if (list && (!event.table || event.table.toLowerCase() === list.source.table.toLowerCase())) list.refresh();
      // The first row of a table makes it one that can be chosen.
      if (event.table && !named(known, event.table)) again();
    },
  };
}
