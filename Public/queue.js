// The queue: what waits and why, by cause and one by one, and what can be done about all of it.
// The state is in queue-state.js, what is drawn in queue-rendering.js and queue-rows.js, what a click does in
// queue-actions.js.

import { operator, query } from "./api.js";
import { coalesce } from "./coalesce.js";
import { find, focusCard } from "./dom.js";
import { currentRow } from "./keys.js";
import { longList } from "./longlist.js";
import { attempt, showProblem } from "./messages.js";
import { operationDetail } from "./operation.js";
import { act, actOnAll, actOnEach } from "./queue-actions.js";
import { queuePage } from "./queue-rendering.js";
import { operationRow } from "./queue-rows.js";
import {
  addressOf, begin, concerns, filterOf, isSameList, parametersOf, withFilter, withOperation, withOperations,
  withoutPicks, withPick,
} from "./queue-state.js";

const causesMost = 8;
const rowPixels = 65;

/** @type {ViewMaker} */
export function queueView(main, asked, { status }) {
  let state = begin(filterOf(asked));
  /** @type {string | null} */
  let shown = null; // The id of the operation in the card at the side.

  const page = queuePage(main, { go });
  const rows = longList(page.list, {
    keyOf: (operation) => operation.id,
    makeRow: (first) => operationRow(first, {
      hash: (operation) => addressOf({ ...state.filter, id: operation.id }),
      isShown: (operation) => operation.id === state.filter.id,
      isPicked: (operation) => state.picked.has(operation.id),
      onPick(operation, isPicked) {
        state = withPick(state, operation, isPicked);
        drawBulk();
      },
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

  function go(change) {
    const filter = { ...state.filter, ...change };
    history.replaceState(null, "", addressOf(filter));
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

  function drawBulk() {
    const done = () => {
      state = withoutPicks(state);
      refresh();
    };
    const { filter, picked } = state;
    const work = async (action) => {
      if (picked.size) await actOnEach(action, [...picked.values()]);
      else await actOnAll(action, parametersOf(filter));
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
    page.drawSide(operationDetail(detail, {
      close: () => go({ id: null }),
      act: (action) => act(action, detail.summary).then(refresh),
      saved() {
        page.clearSide();
        refresh();
      },
    }));
    if (shown !== wanted || hadFocus) focusCard(page.side);
    shown = wanted;
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
    onLeave: rows.close,
    keys: {
      x: () => find(currentRow(), "input[type=checkbox]")?.click(),
      "*"() {
        pickNone();
        page.focusBulk();
      },
      r: withCurrent((operation) => act("retry", operation).then(refresh)),
      "#": withCurrent((operation) => act("discard", operation).then(refresh)),
      e: withCurrent(edit),
    },
    navigate(next) {
      const filter = filterOf(next);
      show(filter, isSameList(state.filter, filter));
    },
    onEvent(kind) {
      if (concerns(kind)) refresh();
    },
  };
}
