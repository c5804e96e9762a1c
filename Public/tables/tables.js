// The tables: the rows of any table with any columns, its policies, and what a client would ask this server.
// The state is in state.js, what is drawn in rendering.js, head.js and grid.js,
// the card of a row in side.js, what a click does in actions.js.

import { operator } from "../shared/api.js";
import { coalesce } from "../shared/coalesce.js";
import { find } from "../shared/dom.js";
import { currentRow } from "../shared/keys.js";
import { attempt, toast } from "../shared/messages.js";
import { cancel, follow, sentence } from "../shared/runs.js";
import { purge } from "./actions.js";
import { drawHead } from "./head.js";
import { tablesPage } from "./rendering.js";
import { tableSide } from "./side.js";
import { addressOf, concerns, firstTable, pageSize, pathOf, questionOf, selectionOf } from "./state.js";

/** @type {ViewMaker} */
export function tablesView(main, asked, header) {
  let question = questionOf(asked);
  let skip = 0; // The place of the first row on screen.
  /** @type {any} */
  let run = null; // The pull that is under way.
  let hasLeft = false; // Another view is on screen.

  const page = tablesPage(main, {
    go,
    open: (row, table) => side.openRow(row, table),
    add: () => side.openNewRow(),
    turn(to) {
      skip = to;
      refresh();
    },
  });
  const refresh = coalesce(() => attempt(load), 100);
  const side = tableSide(page, { question: () => question, close: closeSide, refresh });

  function go(change) {
    question = { ...question, id: "", ...change };
    skip = 0;
    history.replaceState(null, "", addressOf(question));
    side.clear();
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
    side.drawUnsaved();
    await loadRows(question, skip);
  }

  /** Reads the rows and shows them, unless something else was asked for meanwhile. */
  async function loadRows(asked, from) {
    const path = pathOf(asked, { ...selectionOf(asked), skip: from, top: pageSize });
    const isOld = () => asked !== question || from !== skip;
    try {
      const answer = await operator.get(path);
      if (isOld()) return;
      page.drawRows(asked, answer, from);
      if (!asked.id || page.hasSide()) return;
      const wanted = answer.items.find((row) => row.item.id === asked.id);
      if (wanted) side.openRow(wanted, asked.table);
      else attempt(() => side.openUnsaved(asked));
    } catch (problem) {
      if (!isOld()) page.drawRefusal(problem);
    }
  }

  function drawTableHead(table) {
    drawHead(page, table, run, {
      pull: () => pull(table),
      // By the filter of the click, which may be newer than the one of this drawing.
      purge: () => purge(table, question.filter, { changed: refresh, pull: () => pull(table) }),
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
    await attempt(async () => {
      const ended = await follow(path, {}, draw);
      await header.load();
      toast(sentence(ended, header.status()));
    });
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
    side.clear();
    page.focusGrid();
  }

  refresh();
  return {
    refresh,
    onLeave() {
      hasLeft = true;
      page.close();
    },
    keys: { e: () => find(currentRow(), "[data-open]")?.click() },
    navigate(next) {
      const asked = questionOf(next);
      const isOther = asked.table !== question.table || (asked.id !== "" && !side.isRow(asked.id));
      question = asked;
      if (isOther) side.clear();
      skip = 0;
      refresh();
    },
    onEvent(kind, event) {
      if (concerns(kind, event, question.table)) refresh();
    },
  };
}
