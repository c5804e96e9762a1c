// A list of any length: only the rows near the window are in the page. Blocks of rows come and go with
// scrolling; an empty block keeps its height.

import { coalesce } from "./coalesce.js";
import { find, findAll, insert } from "./dom.js";

const blockRows = 40;
const aheadPixels = 800;
const todoPixels = 45;
const keptBlocks = 5; // Blocks that stay in the page, wherever it is scrolled to.

/**
 * @param {HTMLElement} container
 * @param {LongListParts} parts
 */
export function longList(container, { load, keyOf, makeRow, onLoad, onError, rowPixels = todoPixels }) {
  /** @type {{ element: HTMLElement, isNear: boolean, models: any[] | null }[]} */
  let blocks = [];
  /** @type {Map<any, ListedRow>} */
  let rows = new Map();
  const held = document.createElement("ul"); // Rows that are edited and have no other place now.
  let total = 0;
  let question = 0; // Counts the restarts. An answer from before the last restart is not shown.
  const observer = new IntersectionObserver(onScroll, { rootMargin: `${aheadPixels}px` });

  function onScroll(entries) {
    let arrived = false;
    for (const { target, isIntersecting } of entries) {
      const block = blocks.find((one) => one.element === target);
      if (!block) continue;
      if (isIntersecting && !block.isNear) arrived = true;
      block.isNear = isIntersecting;
      if (!isIntersecting) empty(block);
    }
    if (arrived) refresh();
  }

  const edited = () => [...rows].filter(([, row]) => row.isEdited?.());

  /** Keeps the rows in the page that are edited, before an element around them leaves it. */
  function hold(some) {
    if (some.length && !held.isConnected) container.prepend(held);
    for (const [, row] of some) insert(held, row.element, null);
  }

  /** Takes the rows of a block out of the page, unless one of them has the focus or is edited. */
  function empty(block) {
    if (!block.models || block.element.contains(document.activeElement)) return;
    if (edited().some(([, row]) => block.element.contains(row.element))) return;
    if (blocks.filter((one) => one.models).length <= keptBlocks) return;
    block.element.style.height = `${block.element.offsetHeight}px`;
    for (const model of block.models) rows.delete(keyOf(model));
    block.models = null;
    block.element.replaceChildren();
  }

  function resize(count) {
    total = count;
    const wanted = Math.max(1, Math.ceil(count / blockRows));
    for (const { element, models } of blocks.splice(wanted)) {
      const kept = edited().filter(([, row]) => element.contains(row.element));
      hold(kept);
      for (const model of models ?? []) rows.delete(keyOf(model));
      for (const [key, row] of kept) rows.set(key, row);
      observer.unobserve(element);
      element.remove();
    }
    while (blocks.length < wanted) {
      const element = document.createElement("ul");
      const rest = Math.max(0, count - blocks.length * blockRows);
      element.style.height = `${Math.min(blockRows, rest) * rowPixels}px`;
      blocks.push({ element, isNear: blocks.length === 0, models: null });
      container.append(element);
      observer.observe(element);
    }
  }

  /** Blocks that are needed, as runs of neighbours: one request for each run. */
  function runs() {
    /** @type {{ start: number, end: number }[]} */
    const found = [];
    blocks.forEach((block, index) => {
      if (!block.isNear && !block.models) return;
      const last = found.at(-1);
      if (last?.end === index) last.end = index + 1;
      else found.push({ start: index, end: index + 1 });
    });
    return found.length ? found : [{ start: 0, end: 1 }];
  }

  async function work() {
    const asked = question;
    if (!blocks.length) resize(0);
    const answers = await Promise.all(runs().map(async ({ start, end }) => {
      const answer = await load(start * blockRows, (end - start) * blockRows);
      return { start, end, ...answer };
    }));
    if (asked !== question) return;
    const before = findAll(container, "[data-row]");
    const focused = [...rows].find(([, row]) => row.element.contains(document.activeElement));
    resize(answers[0].total);
    const shown = new Map();
    for (const { start, end, items } of answers)
      for (let index = start; index < end && index < blocks.length; index++)
        shown.set(index, items.slice((index - start) * blockRows, (index - start + 1) * blockRows));
    const wanted = new Set([...shown.values()].flat().map(keyOf));
    const staying = new Set();
    for (const [key, row] of rows) {
      if (wanted.has(key)) continue;
      if (row.isEdited?.()) {
        staying.add(row.element);
        row.onMissing?.();
      } else {
        row.element.remove();
        rows.delete(key);
      }
    }
    for (const [index, models] of shown) place(blocks[index], models, index * blockRows, staying);
    if (focused && document.activeElement === document.body)
      focusNear(before, rows.get(focused[0])?.element ?? focused[1].element);
    onLoad([...shown.values()].flat(), total);
  }

  /** Brings the rows of a block in order. A row that is shown again keeps its element, `staying` a place. */
  function place(block, models, from, staying) {
    const { element } = block;
    block.models = models;
    element.style.height = "";
    const orNext = (node) => (staying.has(node) ? orNext(node.nextSibling) : node);
    let next = orNext(element.firstChild);
    models.forEach((model, index) => {
      const key = keyOf(model);
      let row = rows.get(key);
      if (row) row.update(model);
      else rows.set(key, (row = makeRow(model)));
      row.element.setAttribute("aria-setsize", String(total));
      row.element.setAttribute("aria-posinset", String(from + index + 1));
      if (next !== row.element) insert(element, row.element, next);
      next = orNext(row.element.nextSibling);
    });
    while (next) {
      const after = orNext(next.nextSibling);
      // An edited one is moved by the block that has it now. Taken out first, it would lose the focus.
      if (!edited().some(([, row]) => row.element === next)) next.remove();
      next = after;
    }
  }

  const refresh = coalesce(() => work().catch(onError));
  return {
    refresh,
    /** Forgets everything but what is edited, for another question. */
    restart() {
      question++;
      rows = new Map(edited());
      hold([...rows]);
      for (const { element } of blocks) {
        observer.unobserve(element);
        element.remove();
      }
      blocks = [];
      refresh();
    },
    has: (key) => rows.has(key),
    isEdited: (key) => rows.get(key)?.isEdited?.() === true,
    /** A row has another key from now on. False where another row with that key is edited. */
    rename(from, to) {
      const row = rows.get(from);
      const other = rows.get(to);
      if (!row || other?.isEdited?.()) return false;
      other?.element.remove();
      rows.delete(from);
      rows.set(to, row);
      refresh();
      return true;
    },
    /** Shows a row above the others if it is edited: the list has it in a place that is not on screen. */
    hold(model) {
      const key = keyOf(model);
      if (rows.has(key)) return;
      const row = makeRow(model);
      if (!row.isEdited?.()) return;
      rows.set(key, row);
      hold([[key, row]]);
      row.onMissing?.();
    },
    close() {
      observer.disconnect();
      for (const row of rows.values()) row.leave?.();
    },
  };
}

/**
 * The row with the focus has left its place. The focus goes to it where it is now, else to the next row of
 * those that were there before, else to the one before it, else to the heading.
 */
function focusNear(before, left) {
  const isThere = (row) => row.isConnected;
  const at = before.indexOf(left);
  const row = [left, ...before.slice(at + 1), ...before.slice(0, Math.max(at, 0)).reverse()].find(isThere);
  const target = row ? (find(row, "textarea, [data-open]") ?? row) : find(document, "main h1");
  if (!row) target?.setAttribute("tabindex", "-1");
  target?.focus({ preventScroll: true });
}
