// The todos of one table. The state is in list-state.js, what is drawn in list-rendering.js and
// row.js, what a click does in actions.js.

import { canWrite, operator, query } from "../shared/api.js";
import { coalesce } from "../shared/coalesce.js";
import { find } from "../shared/dom.js";
import { draft, todoDrafts } from "../shared/drafts.js";
import { currentRow } from "../shared/keys.js";
import { longList } from "../shared/longlist.js";
import { showProblem } from "../shared/messages.js";
import { todoActions } from "./actions.js";
import { todoFrame } from "./list-rendering.js";
import { addressOf, countText, emptyText, keep, openFilter, parametersOf, questionOf } from "./list-state.js";
import { todoRow } from "./row.js";
import { dueColumnOf } from "./source.js";

/**
 * `onLoad(rows, isThere)` is called after each read. `isThere` says whether the table is there. `isMissing()`
 * says that there is no table at all.
 * @param {HTMLElement} main
 * @param {TodoSource} source
 * @param {Route} asked
 */
export function todoList(main, source, asked, { toggleMode, onLoad, isMissing }) {
  const path = `/tables/${encodeURIComponent(source.table)}/items`;
  let question = questionOf(asked, source);
  let isThere = true;
  let isEmpty = false;
  /** @type {string | null | undefined} */
  let due; // The column that says when a todo is due; undefined until it was looked for.

  const actions = todoActions(source, refresh);
  const frame = todoFrame(main, source, { insert: actions.insert, go });
  const rows = longList(frame.list, {
    keyOf: (row) => row.item.id,
    makeRow: (row) => todoRow(row, source, { ...actions, rename: rows.rename }),
    load,
    onLoad: draw,
    onError: showProblem,
  });
  const count = coalesce(() => countOpen().catch(() => {}), 120);

  function refresh() {
    rows.refresh();
  }

  function go(change) {
    question = { ...question, ...change };
    keep(question);
    history.replaceState(null, "", addressOf(question));
    show();
  }

  function show() {
    frame.drawControls(question);
    rows.restart();
  }

  async function load(skip, top) {
    try {
      if (question.sort === "due" && due === undefined) await findDue();
      const asked = parametersOf(question, source, due);
      const answer = await operator.get(`${path}${query({ ...asked, skip, top })}`);
      isThere = true;
      return answer;
    } catch (problem) {
      if (problem.code !== "not-found") throw problem;
      isThere = false;
      return { items: [], total: 0 }; // The first todo makes the table.
    }
  }

  /** An address may ask for the order before any row is known. */
  async function findDue() {
    const { items } = await operator.get(`${path}${query({ top: 1 })}`);
    due = items.map((row) => dueColumnOf(row.item)).find(Boolean) ?? null;
  }

  function draw(models, total) {
    isEmpty = total === 0;
    drawEmpty();
    due ??= models.map((row) => dueColumnOf(row.item)).find(Boolean);
    if (due) frame.offerDue();
    if (source.done) count();
    else frame.drawCount(countText(source, total));
    onLoad(models, isThere);
    drawEmpty();
    showDrafts();
  }

  /** A half-typed text is on screen also where the list has its row in another place, or not any more. */
  async function showDrafts() {
    const isOfRows = ({ table, column }) => table === source.table && column === source.text;
    const drafts = canWrite ? todoDrafts() : [];
    const left = drafts.filter((one) => !isOfRows(one));
    for (const one of drafts.filter((one) => isOfRows(one) && one.id !== null)) {
      const { id } = one;
      if (!rows.has(id)) {
        const found = await actions.find(id);
        if (found === undefined) continue;
        // Held under the id of its draft, it moves to another one itself.
        rows.hold(found ? { ...found, item: { ...found.item, id } } : { item: { id }, state: "synced" });
      }
      if (!rows.isEdited(id)) left.push(one);
    }
    drawUnsaved(left);
  }

  function drawUnsaved(left) {
    const isKept = ({ name }) => draft.read(name) !== null;
    frame.drawUnsaved(left.filter(isKept), ({ name }) => {
      draft.forget(name);
      drawUnsaved(left);
      frame.focusInput();
    });
  }

  function drawEmpty() {
    frame.drawEmpty(isEmpty ? emptyText(question, source, isMissing()) : null);
  }

  async function countOpen() {
    const { total } = await operator.get(`${path}${query({ filter: openFilter(source), top: 0 })}`);
    frame.drawCount(countText(source, total));
  }

  const click = (name) => () => find(currentRow(), `[data-key="${name}"]`)?.click();
  frame.drawControls(question);
  refresh();
  return {
    source,
    redraw: drawEmpty,
    refresh,
    close: rows.close,
    keys: {
      e: click("edit"),
      x: click("tick"),
      "#": click("delete"),
      p: toggleMode,
      a: frame.focusInput,
    },
    navigate(next) {
      question = questionOf(next, source);
      show();
    },
  };
}
