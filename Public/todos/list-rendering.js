// Draws the frame of the todos: the field for a new one, the filters, the order, and the place of the list.

import { canWrite, whyNotWrite } from "../shared/api.js";
import { button, fill, find, h, note } from "../shared/dom.js";
import { filtersOf } from "./list-state.js";
import { newTodo } from "./new.js";
import { isStandard } from "./source.js";
import { leftCard } from "../shared/unsaved.js";
import { words } from "../shared/words.js";

/** Builds the frame in `main`. Gives the element of the list, and for each part a function that draws it. */
export function todoFrame(main, source, { insert, go }) {
  const isOfTodos = isStandard(source);
  const adding = newTodo(source, insert);
  const search = h("input", {
    type: "search", placeholder: words.search,
    "aria-label": isOfTodos ? words.searchTodos : words.searchIn(source.table),
    oninput: () => go({ q: search.value }),
  });
  const filters = filtersOf(source);
  const shows = Object.entries(words.show).filter(([name]) => name in filters).map(([name, label]) =>
    button({ "data-show": name, onclick: () => go({ show: name }) }, label));
  const sort = h("select", { "aria-label": words.sort, onchange: () => go({ sort: sort.value }) },
    Object.entries(words.order).map(([name, label]) =>
      h("option", { value: name, disabled: name === "due" }, label)));
  const left = h("span", { class: "count" });
  const list = h("div", { class: "todos" });
  const unsaved = h("div", {});
  const empty = h("p", { class: "empty", hidden: true });
  const segments = h("div", { class: "segments", role: "group", "aria-label": words.showLabel }, shows);
  fill(main,
    canWrite ? adding.element : note(whyNotWrite),
    h("div", { class: "bar tight" }, source.done && segments, search, sort, left),
    unsaved, list, empty);

  return {
    list,
    focusInput: adding.focus,
    drawControls(question) {
      for (const one of shows) one.setAttribute("aria-pressed", String(one.dataset.show === question.show));
      sort.value = question.sort;
      if (document.activeElement !== search) search.value = question.q;
    },
    offerDue() {
      const option = /** @type {HTMLOptionElement} */ (find(sort, "[value=due]"));
      option.disabled = false;
    },
    /** The texts that were typed for todos of other columns or tables, or for what is no text any more. */
    drawUnsaved: (drafts, giveUp) => fill(unsaved, drafts.map((one) =>
      leftCard(words.typedElsewhere(one.table, one.column), one.text, () => giveUp(one)))),
    drawCount: (text) => fill(left, text),
    /** `text` says why the list is empty; null where it is not. */
    drawEmpty(text) {
      empty.hidden = text === null;
      list.classList.toggle("bare", text !== null);
      if (text !== null) fill(empty, text);
    },
  };
}
