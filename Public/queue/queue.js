// The queue: what waits and why, and what can be done about it.

import { operator, query } from "../shared/api.js";
import { coalesce } from "../shared/coalesce.js";
import { find, findAll, focusCard } from "../shared/dom.js";
import { draft, draftOf } from "../shared/drafts.js";
import { currentRow } from "../shared/keys.js";
import { longList } from "../shared/longlist.js";
import { attempt, showProblem } from "../shared/messages.js";
import { operationDetail } from "./operation.js";
import { overview } from "../overview/overview.js";
import { act, actOnAll, actOnEach, decidePicked } from "./actions.js";
import { causesMost, causesShown } from "./causes.js";
import { queuePage } from "./rendering.js";
import { operationRow, printQueue } from "./rows.js";
import {
  addressOf, begin, concerns, filterOf, isSameList, ofCause, selectionOf, withFilter, withOperation,
  withOperations, withoutPicks, withPicks,
} from "./state.js";
import { queueWords as said } from "./words.js";

const printedMost = 200;
const rowPixels = 44;
const followMilliseconds = 2000; // Between two readings after events: of list, causes and open card.
const rangePart = 500; // So many operations are read at once for a range.

/** @type {ViewMaker} */
export function queueView(main, asked, { status, sync, retried }) {
  let state = begin(filterOf(asked));
  /** @type {ListPlace | null} */
  let picked = null; // The latest pick, where a range begins.
  /** @type {string | null} */
  let shown = null; // The id of the operation in the card at the side.
  let card = null; // That card.
  let hasLeft = false; // Another view is on screen.

  let isAllCauses = false; // Whether all causes are shown.
  /** @type {{ items: OperationGroup[], total: number } | null} */
  let causes = null; // Until they are read for the filter.

  const pictures = overview();
  const page = queuePage(main, {
    go,
    pictures: pictures.element,
    pathOf: (format) => pathOf({ format }),
    actOnCause: (action, group) => work(action, ofCause(state.filter, group)),
    showAllCauses(isAll) {
      isAllCauses = isAll;
      around();
    },
  });
  const rows = longList(page.list, {
    keyOf: (operation) => operation.id,
    makeRow: (first) => operationRow(first, {
      hash: (operation) => addressOf({ ...state.filter, id: operation.id }),
      isShown: (operation) => operation.id === state.filter.id,
      isPicked: (operation) => state.picked.has(operation.id),
      onPick: pick,
    }),
    load: operationsAt,
    onLoad(operations, total) {
      state = withOperations(state, operations, total);
      drawBulk();
      drawCauses();
      page.drawFrame(state, status());
    },
    onError: showProblem,
    rowPixels,
  });

  const after = { sync, changed: () => refresh(), retried: (ids) => retried(ids, state.filter) };

  /** A window of the list. */
  function operationsAt(skip, limit) {
    return operator.get(pathOf({ skip: skip || "", limit }));
  }

  /** The path of what of the list `part` names. */
  function pathOf(part) {
    const { sort } = state.filter;
    return /** @type {const} */ (`/operations${query({ ...selectionOf(state.filter), sort, ...part })}`);
  }

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
    page.drawStates(filter, status());
    page.markShown(filter.id);
    page.drawUnsaved(filter);
    if (keepsList) rows.refresh();
    else {
      [causes, picked] = [null, null];
      drawBulk();
      rows.restart();
    }
    around();
    attempt(loadDetail);
  }

  /** Picks an operation; with `isRange` also all from the latest pick to it. */
  async function pick(operation, isPicked, isRange) {
    const from = isRange && picked && (placeOf(picked.id) ?? picked);
    const to = placeOf(operation.id);
    picked = to;
    if (from && to) await attempt(() => pickRange(from, to, isPicked));
    else state = withPicks(state, [operation], isPicked);
    drawBulk();
    if (isRange) rows.refresh();
  }

  /**
   * The place of a row in the whole list, from 1. Null for a row that is not in the page.
   * @returns {ListPlace | null}
   */
  function placeOf(id) {
    const row = findAll(page.list, "[data-row]").find((one) => one.dataset.id === id);
    return row ? { id, at: Number(row.getAttribute("aria-posinset")) } : null;
  }

  /**
   * Picks what is between two rows. All are read for that, because most may be scrolled away. Where the two
   * are no longer at their places, nothing is picked.
   * @param {ListPlace} one
   * @param {ListPlace} other
   */
  async function pickRange(one, other, isPicked) {
    const { filter } = state;
    const [first, last] = one.at < other.at ? [one, other] : [other, one];
    /** @type {OperationSummary[]} */
    const found = [];
    for (let skip = first.at - 1; skip < last.at; skip += rangePart) {
      const { items } = await operationsAt(skip, Math.min(rangePart, last.at - skip));
      if (!isSameList(filter, state.filter)) return; // Another list was chosen meanwhile.
      found.push(...items);
    }
    if (found[0]?.id !== first.id || found.at(-1)?.id !== last.id) throw new Error(said.rangeMoved);
    state = withPicks(state, found, isPicked);
  }

  function drawBulk() {
    page.drawBulk(state, {
      retry: () => work("retry", state.filter), discard: () => work("discard", state.filter), decide,
      pickNone, print,
    });
  }

  async function decide() {
    if (!(await attempt(() => decidePicked([...state.picked.values()], refresh)))) return;
    state = withoutPicks(state);
    refresh();
  }

  /**
   * Retries or discards what is picked, else all that match. The picks stay where a person cancels it.
   * @param {OperationAction} action
   */
  async function work(action, filter) {
    const { picked } = state;
    const isDone = picked.size && filter === state.filter
      ? await actOnEach(action, [...picked.values()], filter, after)
      : await actOnAll(action, filter, after);
    if (!isDone) return;
    state = withoutPicks(state);
    refresh();
  }

  function pickNone() {
    state = withoutPicks(state);
    rows.refresh();
  }

  const print = () => attempt(async () => printQueue(page.list, (await operationsAt(0, printedMost)).items));

  /** The browser's own key for printing would print only the rows that are in the page. */
  function onKey(event) {
    if (event.key !== "p" || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey) return;
    event.preventDefault();
    print();
  }

  async function loadAround() {
    const limit = isAllCauses ? causesMost : causesShown;
    const { filter } = state;
    try {
      const found = await operator.get("/operations/groups" + query({ ...selectionOf(filter), limit }));
      if (filter !== state.filter) return; // Another filter was chosen meanwhile, and is asked for.
      causes = found;
      drawCauses();
      page.drawChoices(status()?.tables ?? [], found.items, filter);
    } finally {
      page.showList();
    }
  }

  function drawCauses() {
    if (!causes) return;
    const { filter, total } = state;
    page.drawCauses(causes.items, { total: causes.total, operations: total, isAll: isAllCauses, filter });
  }

  async function loadDetail() {
    const wanted = state.filter.id;
    if (!wanted) {
      shown = null;
      return page.clearSide();
    }
    const isEdited = () => shown === wanted && page.isEdited(); // What is half typed stays.
    if (isEdited()) return;
    const detail = await operator.get(`/operations/${encodeURIComponent(wanted)}`).catch((problem) => {
      if (problem.status !== 404) throw problem;
      return null;
    });
    if (hasLeft || wanted !== state.filter.id || isEdited()) return;
    if (!detail && shown === wanted) return leaveSide();
    if (!detail) {
      shown = null;
      return page.drawNotFound(wanted, () => {
        draft.forget(draftOf.operation(wanted));
        close();
      });
    }
    state = withOperation(state, detail.summary);
    if (shown === wanted) return card.update(detail);
    card = operationDetail(detail, status()?.backend.url ?? null, {
      close,
      act: (action) => act(action, state.known.get(wanted) ?? detail.summary, after).then(refresh),
      saved: refresh,
    });
    page.drawSide(card.element);
    focusCard(page.side);
    shown = wanted;
  }

  /** Closes the card of an operation that is gone. It is no step that Back would lead to. */
  function leaveSide() {
    const filter = { ...state.filter, id: null };
    history.replaceState(null, "", addressOf(filter));
    show(filter, true);
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
  // While Understudy does not answer, which the line at the top says, the card stays.
  const atSide = coalesce(() => loadDetail().catch(() => {}), 80);
  function refresh() {
    rows.refresh();
    around();
    atSide();
  }
  const follow = coalesce(refresh, 40, followMilliseconds);
  page.drawFilter(state.filter);
  page.drawStates(state.filter, status());
  page.drawUnsaved(state.filter);
  // The counts beside the list are those of the line at the top.
  const drawCounts = () => page.drawStates(state.filter, status());
  addEventListener("keydown", onKey);
  document.addEventListener("understudy-status", drawCounts);
  refresh();
  return {
    refresh,
    onLeave() {
      hasLeft = true;
      removeEventListener("keydown", onKey);
      document.removeEventListener("understudy-status", drawCounts);
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
      if (concerns(kind)) follow();
      pictures.refresh();
    },
  };
}
