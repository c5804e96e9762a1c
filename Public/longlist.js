// A list of any length: only the rows near the window are in the page. Blocks of rows come and go with
// scrolling; an empty block keeps its height.

import { coalesce } from "./coalesce.js";

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
  let rows = new Map();
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

  /** Takes the rows of a block out of the page, unless one of them has the focus. */
  function empty(block) {
    if (!block.models || block.element.contains(document.activeElement)) return;
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
      for (const model of models ?? []) rows.delete(keyOf(model));
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
    resize(answers[0].total);
    const shown = new Map();
    for (const { start, end, items } of answers)
      for (let index = start; index < end && index < blocks.length; index++)
        shown.set(index, items.slice((index - start) * blockRows, (index - start + 1) * blockRows));
    const wanted = new Set([...shown.values()].flat().map(keyOf));
    for (const [key, row] of rows)
      if (!wanted.has(key)) {
        row.element.remove();
        rows.delete(key);
      }
    for (const [index, models] of shown) place(blocks[index], models, index * blockRows);
    onLoad([...shown.values()].flat(), total);
  }

  /** Brings the rows of a block in order; a row that stays keeps its element. */
  function place(block, models, from) {
    const { element } = block;
    block.models = models;
    element.style.height = "";
    let next = element.firstChild;
    models.forEach((model, index) => {
      const key = keyOf(model);
      let row = rows.get(key);
      if (row) row.update(model);
      else rows.set(key, (row = makeRow(model)));
      row.element.setAttribute("aria-setsize", total);
      row.element.setAttribute("aria-posinset", from + index + 1);
      if (next !== row.element) insert(element, row.element, next);
      next = row.element.nextSibling;
    });
    while (next) {
      const after = next.nextSibling;
      next.remove();
      next = after;
    }
  }

  const refresh = coalesce(() => work().catch(onError));
  return {
    refresh,
    /** Forgets everything, for another question. */
    restart() {
      question++;
      for (const { element } of blocks) observer.unobserve(element);
      blocks = [];
      rows = new Map();
      container.replaceChildren();
      refresh();
    },
    close: () => observer.disconnect(),
  };
}

/** Moves a row so that it keeps the focus where the browser can do that. */
function insert(parent, element, before) {
  if (element.isConnected && parent.isConnected && parent.moveBefore) parent.moveBefore(element, before);
  else parent.insertBefore(element, before);
}
