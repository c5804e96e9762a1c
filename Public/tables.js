// The tables: the rows of any table with any columns, its policies, and what a client would ask this server.
// The state is in tables-state.js, what is drawn in tables-rendering.js, tables-head.js and tables-grid.js,
// what a click does in tables-actions.js.

import { operator, query } from "./api.js";
import { coalesce } from "./coalesce.js";
import { find } from "./dom.js";
import { currentRow } from "./keys.js";
import { attempt, toast } from "./messages.js";
import { newRow, rowEditor } from "./row-editor.js";
import { cancel, follow, sentence } from "./runs.js";
import { addRow, purge, removeRow, saveRow } from "./tables-actions.js";
import { drawHead } from "./tables-head.js";
import { tablesPage } from "./tables-rendering.js";
import { addressOf, concerns, firstTable, parametersOf, questionOf } from "./tables-state.js";

/** @type {ViewMaker} */
export function tablesView(main, asked) {
  let question = questionOf(asked);
  let skip = 0; // The place of the first row on screen.
  /** @type {any} */
  let run = null; // The pull that is under way.
  let hasLeft = false; // Another view is on screen.

  const page = tablesPage(main, {
    go,
    open: openRow,
    add: openNewRow,
    turn(to) {
      skip = to;
      refresh();
    },
  });

  function go(change) {
    question = { ...question, id: "", ...change };
    skip = 0;
    history.replaceState(null, "", addressOf(question));
    page.drawSide(null);
    refresh();
  }

  async function load() {
    const tables = (await operator.get("/tables")).items;
    question.table ||= firstTable(tables);
    page.drawTables(tables, question.table);
    const table = tables.find((one) => one.name === question.table);
    if (!table) {
      page.hideTable();
      return;
    }
    drawTableHead(table);
    page.drawFilter(question);
    await loadRows(question, skip);
  }

  /** Reads the rows and shows them, unless something else was asked for meanwhile. */
  async function loadRows(asked, from) {
    const path = /** @type {const} */ (
      `/tables/${encodeURIComponent(asked.table)}/items${query(parametersOf(asked, from))}`);
    const isOld = () => asked !== question || from !== skip;
    try {
      const answer = await operator.get(path);
      if (isOld()) return;
      page.drawRows(asked, answer, from);
      const wanted = answer.items.find((row) => row.item.id === asked.id);
      if (wanted && !page.hasSide()) openRow(wanted, asked.table);
    } catch (problem) {
      if (!isOld()) page.drawRefusal(problem);
    }
  }

  function drawTableHead(table) {
    const { filter } = question;
    drawHead(page, table, run, {
      pull: () => pull(table),
      purge: () => purge(table, filter, { changed: refresh, pull: () => pull(table) }),
      changed: refresh,
    });
  }

  async function pull(table) {
    if (run) {
      if (run.id) cancel(run);
      return;
    }
    const draw = (now) => {
      run = now;
      if (question.table === table.name) drawTableHead(table);
    };
    draw({ id: null });
    const path = `/tables/${encodeURIComponent(table.name)}/pull`;
    await attempt(async () => toast(sentence(await follow(path, {}, draw))));
    run = null;
    refresh();
  }

  /** Closes the card. The next reading of the rows does not open the row of the address again. */
  function closeSide() {
    if (hasLeft) return;
    if (question.id) {
      question.id = "";
      history.replaceState(null, "", addressOf(question));
    }
    page.drawSide(null);
    page.focusGrid();
  }

  /** Opens a row of a table, which is that of the grid: an address may ask for another one already. */
  function openRow(row, table) {
    const { id } = row.item;
    const done = () => {
      closeSide();
      refresh();
    };
    page.drawSide(rowEditor(row, page.columns(), {
      close: closeSide,
      save: (changes) => saveRow(table, id, changes).then(done),
      remove: () => removeRow(table, id, refresh).then(done),
    }));
  }

  function openNewRow() {
    const { table } = question;
    page.drawSide(newRow(table, page.columns(), {
      close: closeSide,
      async add(item) {
        await addRow(table, item);
        closeSide();
        refresh();
      },
    }));
  }

  const refresh = coalesce(() => attempt(load), 100);
  refresh();
  return {
    refresh,
    onLeave() {
      hasLeft = true;
      page.close();
    },
    keys: { e: () => find(currentRow(), "[data-open]")?.click() },
    navigate(next) {
      if (next.rest[0] !== question.table) page.drawSide(null);
      question = questionOf(next);
      skip = 0;
      refresh();
    },
    onEvent(kind, event) {
      if (concerns(kind, event, question.table)) refresh();
    },
  };
}
