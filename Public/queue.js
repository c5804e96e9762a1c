// The queue: what waits and why, by cause and one by one, and what can be done about all of it.
// The state is in queue-state.js, what is drawn in queue-rendering.js and queue-rows.js, what a click does in
// queue-actions.js.

import { operator, query } from "./api.js";
import { coalesce } from "./coalesce.js";
import { find, findAll, focusCard } from "./dom.js";
import { currentRow } from "./keys.js";
import { longList } from "./longlist.js";
import { attempt, showProblem } from "./messages.js";
import { operationDetail } from "./operation.js";
import { overview } from "./overview.js";
import { act, actOnAll, actOnEach } from "./queue-actions.js";
import { queuePage } from "./queue-rendering.js";
import { operationRow } from "./queue-rows.js";
import {
  addressOf, begin, concerns, filterOf, isSameList, parametersOf, withFilter, withOperation, withOperations,
  withoutPicks, withPick,
} from "./queue-state.js";

const causesMost = 8;
const rowPixels = 44;
const rangePart = 500; // So many operations are read at once for a range.

/** @type {ViewMaker} */
export function queueView(main, asked, { status, sync }) {
  let state = begin(filterOf(asked));
  /** @type {string | null} */
  let picked = null; // The id of the latest pick, where a range begins.
  /** @type {string | null} */
  let shown = null; // The id of the operation in the card at the side.

  const pictures = overview();
  const page = queuePage(main, { go, pictures: pictures.element });
  const rows = longList(page.list, {
    keyOf: (operation) => operation.id,
    makeRow: (first) => operationRow(first, {
      hash: (operation) => addressOf({ ...state.filter, id: operation.id }),
      isShown: (operation) => operation.id === state.filter.id,
      isPicked: (operation) => state.picked.has(operation.id),
      onPick: pick,
    }),
    load: (skip, top) =>
      operator.get("/operations" + query({ ...parametersOf(state.filter), skip: skip || "", limit: top })),
    onLoad(operations, total) {
      state = withOperations(state, operations, total);
      drawBulk();
      page.drawFrame(state, status());
    },
    onError: showProblem,
    rowPixels,
  });

  const after = { sync, changed: () => refresh() };

  /** Each state, cause and operation is a step that Back undoes; a letter of a search is none. */
  function go(change) {
    const filter = { ...state.filter, ...change };
    if ("q" in change) history.replaceState(null, "", addressOf(filter));
    else history.pushState(null, "", addressOf(filter));
    show(filter, "id" in change);
  }

  /** Another filter begins at the top; another operation at the side leaves the list where it is. */
  function show(filter, keepsList) {
    state = withFilter(state, filter);
    page.drawFilter(filter);
    if (keepsList) rows.refresh();
    else rows.restart();
    around();
    attempt(loadDetail);
  }

  /** Picks an operation; with `isRange` also all from the latest pick to it. */
  async function pick(operation, isPicked, isRange) {
    const from = placeOf(picked);
    picked = operation.id;
    const to = placeOf(operation.id);
    if (isRange && from && to) {
      const [first, last] = [Math.min(from, to), Math.max(from, to)];
      await attempt(() => pickRange(first, last, isPicked));
    } else state = withPick(state, operation, isPicked);
    drawBulk();
    if (isRange) rows.refresh();
  }

  /** The place of a row in the whole list, from 1. Null for a row that is not on screen. */
  function placeOf(id) {
    const row = id && findAll(page.list, "[data-row]").find((one) => one.dataset.id === id);
    return row ? Number(row.getAttribute("aria-posinset")) : null;
  }

  /** Picks what is between two places. Rows that are scrolled away are read for that. */
  async function pickRange(first, last, isPicked) {
    for (let skip = first - 1; skip < last; skip += rangePart) {
      const limit = Math.min(rangePart, last - skip);
      const asked = query({ ...parametersOf(state.filter), skip: skip || "", limit });
      const { items } = await operator.get(`/operations${asked}`);
      for (const one of items) state = withPick(state, one, isPicked);
    }
  }

  function drawBulk() {
    const done = () => {
      state = withoutPicks(state);
      refresh();
    };
    const { filter, picked } = state;
    const work = async (action) => {
      if (picked.size) await actOnEach(action, [...picked.values()], after);
      else await actOnAll(action, parametersOf(filter), after);
      done();
    };
    page.drawBulk(state, { retry: () => work("retry"), discard: () => work("discard"), pickNone });
  }

  function pickNone() {
    state = withoutPicks(state);
    rows.refresh();
  }

  async function loadAround() {
    const [causes, tables] = await Promise.all([
      operator.get("/operations/groups" + query({ ...parametersOf(state.filter), limit: causesMost })),
      operator.get("/tables"),
    ]);
    page.drawCauses(causes.items, state.filter);
    page.drawTables(tables.items, state.filter);
  }

  async function loadDetail() {
    const wanted = state.filter.id;
    if (!wanted) {
      shown = null;
      return page.clearSide();
    }
    if (shown === wanted && page.isEdited()) return; // What is half typed stays.
    // An address may name an operation that does not exist. When a shown operation is gone, the side closes.
    const detail = await operator.get(`/operations/${encodeURIComponent(wanted)}`).catch((problem) => {
      if (problem.status !== 404 || shown === wanted) throw problem;
      return null;
    });
    if (wanted !== state.filter.id) return; // Another one was opened meanwhile.
    if (!detail) return page.drawNotFound(wanted);
    state = withOperation(state, detail.summary);
    const hadFocus = page.hasFocusAtSide();
    page.drawSide(operationDetail(detail, status()?.backend.url ?? null, {
      close,
      act: (action) => act(action, detail.summary, after).then(refresh),
      saved() {
        page.clearSide();
        refresh();
      },
    }));
    if (shown !== wanted || hadFocus) focusCard(page.side);
    shown = wanted;
  }

  /** Closes the card at the side; the focus goes back to its row. */
  function close() {
    const { id } = state.filter;
    if (!id) return false;
    go({ id: null });
    page.focusRow(id);
  }

  /** Does `work` to the operation of the row that has the focus, else to the one at the side. */
  const withCurrent = (work) => () => {
    const operation = state.known.get(currentRow()?.dataset.id ?? state.filter.id);
    return operation ? void work(operation) : false;
  };

  function edit({ id }) {
    if (id === state.filter.id) page.edit();
    else location.hash = addressOf({ ...state.filter, id });
  }

  const around = coalesce(() => attempt(loadAround), 120);
  const atSide = coalesce(() => loadDetail().catch(() => go({ id: null })), 80);
  function refresh() {
    rows.refresh();
    around();
    atSide();
  }
  page.drawFilter(state.filter);
  refresh();
  return {
    refresh,
    onLeave() {
      rows.close();
      pictures.close();
    },
    keys: {
      x: () => find(currentRow(), "input[type=checkbox]")?.click(),
      "*"() {
        pickNone();
        page.focusBulk();
      },
      r: withCurrent((operation) => act("retry", operation, after).then(refresh)),
      "#": withCurrent((operation) => act("discard", operation, after).then(refresh)),
      e: withCurrent(edit),
      Escape: close,
    },
    navigate(next) {
      const filter = filterOf(next);
      show(filter, isSameList(state.filter, filter));
    },
    onEvent(kind) {
      if (concerns(kind)) refresh();
      pictures.refresh();
    },
  };
}
