// Draws the frame of the todos: the field for a new one, the filters, the order, and the place of the list.

import { canWrite } from "./api.js";
import { button, fill, find, form, h, note } from "./dom.js";
import { filtersOf } from "./todo-list-state.js";
import { draft } from "./todo-row.js";
import { isStandard } from "./todo-source.js";
import { words } from "./words.js";

/** Builds the frame in `main`. Gives the element of the list, and for each part a function that draws it. */
export function todoFrame(main, source, { add, go }) {
  const isOfTodos = isStandard(source);
  const inputLabel = isOfTodos ? words.newTodo : words.newIn(source.table);
  const input = h("input", {
    id: "new-todo", name: "text", autocomplete: "off", placeholder: inputLabel, "aria-label": inputLabel,
  });
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
  const empty = h("p", { class: "empty", hidden: true });
  const addForm = form({ class: "add" }, submit, input, h("button", { class: "primary" }, words.add));
  const segments = h("div", { class: "segments", role: "group", "aria-label": words.showLabel }, shows);
  fill(main,
    canWrite ? addForm : note(words.onlyLooking),
    h("div", { class: "bar tight" }, source.done && segments, search, sort, left),
    list, empty);
  draft.keep(input, "new");

  async function submit() {
    const text = input.value.trim();
    if (!text) return;
    input.value = "";
    if (await add(text)) draft.forget("new");
    else input.value = text;
  }

  return {
    list,
    focusInput: () => input.focus(),
    drawControls(question) {
      for (const one of shows) one.setAttribute("aria-pressed", String(one.dataset.show === question.show));
      sort.value = question.sort;
      if (document.activeElement !== search) search.value = question.q;
    },
    offerDue() {
      const option = /** @type {HTMLOptionElement} */ (find(sort, "[value=due]"));
      option.disabled = false;
    },
    drawCount: (text) => fill(left, text),
    /** `text` says why the list is empty; null where it is not. */
    drawEmpty(text) {
      empty.hidden = text === null;
      list.classList.toggle("bare", text !== null);
      if (text !== null) fill(empty, text);
    },
  };
}
