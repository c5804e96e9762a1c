// A list of any length that is instant: only the rows near the window are in the page. Blocks of
// rows come and go with scrolling; a block that is away keeps its height.

import { coalesce } from "./dom.js";

const blockRows = 40;
const aheadPixels = 800;
const todoPixels = 46;
const keptBlocks = 5; // So many stay in the page wherever it is scrolled to.

/**
 * `load(skip, top)` gives `{items, total}`; `keyOf(model)` names a row; `makeRow(model)` gives
 * `{element, update(model)}`; `onLoad(models, total)` hears what was read, `onError(problem)` what was not;
 * `rowPixels` is how high a row is likely to be.
 */
export function longList(container, { load, keyOf, makeRow, onLoad, onError, rowPixels = todoPixels }) {
  let blocks = []; // {element, near, models}
  let rows = new Map();
  let total = null;
  let question = 0; // Counts the restarts: an answer to an earlier question is not shown.
  const observer = new IntersectionObserver(look, { rootMargin: `${aheadPixels}px` });

  function look(entries) {
    let arrived = false;
    for (const { target, isIntersecting } of entries) {
      const block = blocks[target.blockIndex];
      if (block?.element !== target) continue;
      if (isIntersecting && !block.near) arrived = true;
      block.near = isIntersecting;
      if (!isIntersecting) leave(block);
    }
    if (arrived) refresh();
  }

  /** Takes the rows of a block out of the page, unless somebody is in one of them. */
  function leave(block) {
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
    while (blocks.length > wanted) {
      const { element, models } = blocks.pop();
      for (const model of models ?? []) rows.delete(keyOf(model));
      observer.unobserve(element);
      element.remove();
    }
    while (blocks.length < wanted) {
      const element = document.createElement("ul");
      element.blockIndex = blocks.length;
      element.style.height = `${Math.min(blockRows, Math.max(0, count - blocks.length * blockRows)) * rowPixels}px`;
      blocks.push({ element, near: blocks.length === 0, models: null });
      container.append(element);
      observer.observe(element);
    }
  }

  /** Blocks that are needed, as runs of neighbours: one question for each run. */
  function runs() {
    const found = [];
    blocks.forEach((block, index) => {
      if (!block.near && !block.models) return;
      const last = found.at(-1);
      if (last && last.end === index) last.end = index + 1;
      else found.push({ start: index, end: index + 1 });
    });
    return found.length ? found : [{ start: 0, end: 1 }];
  }

  async function work() {
    const asked = question;
    if (!blocks.length) resize(0);
    const answers = await Promise.all(
      runs().map(async (run) => ({ run, answer: await load(run.start * blockRows, (run.end - run.start) * blockRows) })),
    );
    if (asked !== question) return;
    resize(answers[0].answer.total);
    const shown = new Map();
    for (const { run, answer } of answers)
      for (let index = run.start; index < run.end && index < blocks.length; index++)
        shown.set(index, answer.items.slice((index - run.start) * blockRows, (index - run.start + 1) * blockRows));
    const wanted = new Set([...shown.values()].flat().map(keyOf));
    for (const [key, row] of rows)
      if (!wanted.has(key)) {
        row.element.remove();
        rows.delete(key);
      }
    for (const [index, models] of shown) place(blocks[index], models, index * blockRows);
    onLoad?.([...shown.values()].flat(), total);
  }

  /** Brings the rows of a block in order; a row that stays keeps its element, focus and text. */
  function place(block, models, from) {
    const { element } = block;
    block.models = models;
    element.style.height = "";
    let previous = null;
    models.forEach((model, index) => {
      const key = keyOf(model);
      let row = rows.get(key);
      if (row) row.update(model);
      else rows.set(key, (row = makeRow(model)));
      row.element.setAttribute("aria-setsize", total);
      row.element.setAttribute("aria-posinset", from + index + 1);
      const spot = previous ? previous.nextSibling : element.firstChild;
      if (spot !== row.element) insert(element, row.element, spot);
      previous = row.element;
    });
    while (previous ? previous.nextSibling : element.firstChild) (previous ? previous.nextSibling : element.firstChild).remove();
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
    leave: () => observer.disconnect(),
  };
}

/** Moving a row that is already in the page must not take the focus out of it. */
function insert(parent, element, before) {
  if (element.isConnected && parent.isConnected && parent.moveBefore) parent.moveBefore(element, before);
  else parent.insertBefore(element, before);
}
