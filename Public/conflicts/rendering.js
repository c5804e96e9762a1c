// Draws the conflicts view: the filter, the place in the list, the card, and the choices that decide many.

import { query } from "../shared/api.js";
import { addressOf, alikeOnes, choicesFor, isFiltered, selectionOf } from "./state.js";
import { button, column, drawChoice, fill, h, note, refill } from "../shared/dom.js";
import { downloads } from "../shared/download.js";
import { draft, draftOf } from "../shared/drafts.js";
import { oneLine } from "../shared/formats.js";
import { leftText, unsavedLine, unsavedMark } from "../shared/unsaved.js";
import { conflictWords as said } from "./words.js";
import { queueWords } from "../queue/words.js";
import { views, words } from "../shared/words.js";

export const manyChoices = ["merged", "mine", "server", "newest", "both"];

/** Builds the page in `main`. Gives a function for each part that draws it. */
export function conflictsPage(main, { step, go, pick, decideAlike, decidePicked, decideMatching }) {
  const filter = filterBar(go);
  const page = h("div", { class: "page-part" });
  const place = h("span", { class: "position count" });
  const bar = h("div", { class: "bar" });
  let parameters = {}; // What the operator API is asked for.
  const files = downloads((format) => `/conflicts${query({ ...parameters, format })}`);
  const many = h("div", {}); // The choices that decide many at once.
  const list = h("nav", { class: "conflict-list card", "aria-label": said.conflictList });
  let conflicts = h("div", {});
  let listed = ""; // The conflicts that are drawn in the list.
  fill(main, h("section", { class: "page wide" }, filter.element, page));

  const drawPlace = ({ index, total }) => refill(place, said.position(index + 1, total));

  /** Draws the conflict on screen with its card. `left` is what was typed for one that is decided already. */
  function draw(state, card, left, giveUp) {
    const conflict = state.list[state.index];
    conflicts = h("div", { class: "conflicts" }, h("div", {}, card, many));
    listed = "";
    drawList(state);
    fill(page, unsavedParts(conflict.id, left, giveUp), bar, conflicts);
  }

  /** Draws what is around the card, where other conflicts are in the list now. The card stays. */
  function drawList(state) {
    drawPlace(state);
    filter.draw(state);
    parameters = selectionOf(state.filter);
    const now = JSON.stringify([state.total, state.index, state.filter, [...state.picked],
      state.list.map((one) => [one.id, one.title])]);
    if (now === listed) return;
    listed = now;
    const conflict = state.list[state.index];
    const alike = alikeOnes(state, conflict);
    const isAll = state.list.length >= state.total;
    const hasOthers = state.list.length > 1;
    const { size: some } = state.picked;
    refill(bar, place, files,
      some > 0 && h("strong", {}, queueWords.picked(some)),
      some > 0 && choiceButtons(manyChoices, decidePicked),
      hasOthers && stepButtons(step));
    refill(list, listOf(state, pick));
    if (!hasOthers) list.remove();
    else if (list.parentNode !== conflicts) conflicts.prepend(list);
    const hasMore = state.total > 1 && (state.total > alike.length || !isAll);
    refill(many,
      alike.length > 1 &&
        alikeCard(conflict, alike.length, isAll, (choice) => decideAlike(conflict, choice)),
      isFiltered(state)
        ? state.total > 1 && matchingCard(said.allMatching(state.total), (choice) =>
          decideMatching(state.filter, choice))
        : hasMore && matchingCard(said.wholeTable(conflict.table), (choice) =>
          decideMatching({ ...state.filter, table: conflict.table }, choice)));
  }

  return {
    draw, drawPlace, drawList,
    drawProgress: (done, total) => refill(place, said.deciding(done, total)),
    drawCounting: (count) => refill(place, said.counting(count)),
    drawNone(state, left, giveUp) {
      filter.draw(state);
      fill(page, h("h1", {}, views.conflicts), unsavedParts("", left, giveUp),
        h("p", { class: "empty" }, isFiltered(state) ? words.nothingMatches : said.noConflicts));
    },
  };
}

/** The filter above the conflicts. It is there where there are several, and stays while it hides any. */
function filterBar(go) {
  const choice = (name) => h("select", { onchange: (event) => go({ [name]: event.currentTarget.value }) });
  const choices = {
    table: choice("table"), column: choice("column"), actor: choice("actor"), age: choice("age"),
  };
  const search = h("input", { type: "search", oninput: () => go({ q: search.value }) });
  const further = h("details", { class: "further" },
    h("summary", {}, queueWords.moreFilters),
    h("div", { class: "actions" },
      column(words.table, choices.table), column(said.field, choices.column),
      column(said.who, choices.actor), column(queueWords.age, choices.age)));
  const element = h("div", { class: "bar filters", hidden: true },
    h("label", { class: "wide" }, `${words.search} `, search), further);

  /** A choice has what the conflicts on screen have, and what is chosen. */
  function draw(name, chosen, found) {
    const values = [...new Set(found)].sort().map((one) => [one, words.actor[one] ?? one]);
    drawChoice(choices[name], [["", queueWords.any], ...values], chosen);
  }

  return {
    element,
    /** @param {ConflictsState} state */
    draw(state) {
      const { filter, list } = state;
      element.hidden = !isFiltered(state) && state.total < 2;
      if (filter.table || filter.column || filter.actor || filter.age) further.open = true;
      if (document.activeElement !== search) search.value = filter.q;
      draw("table", filter.table, list.map((one) => one.table));
      draw("column", filter.column, list.flatMap((one) => one.fields.map(({ name }) => name)));
      draw("actor", filter.actor, list.map((one) => one.mineClient ?? one.mineActor));
      drawChoice(choices.age, Object.entries(queueWords.ageLeast), filter.age);
    },
  };
}

/** Where there is unsaved text beside the conflict on screen, and what was typed for one that is gone. */
function unsavedParts(shown, left, giveUp) {
  const others = draft.allOf("conflict").filter(({ id }) => id !== shown && id !== left?.id);
  const textOf = ({ fields }) => fields.map(([name, { text }]) => `${name}: ${text}`).join("\n\n");
  return [
    unsavedLine(others.map(({ id, title }) => ({ title, href: addressOf(id) }))),
    left && leftText(left.title, textOf(left), giveUp),
  ];
}

const stepButtons = (step) => h("span", { class: "actions" },
  button({ "data-key": "previous", onclick: () => step(-1) }, words.previous),
  button({ "data-key": "next", onclick: () => step(1) }, words.next));

export const choiceButtons = (choices, decide) => h("div", { class: "actions" },
  choices.map((choice) => button({ onclick: () => decide(choice) }, said.forAll[choice])));

/** The conflicts that were read, beside the one on screen; each can be picked. A narrow page hides them. */
function listOf({ list, index, total, filter, picked }, pick) {
  const ids = list.map((one) => one.id);
  const box = (label, isPicked, some) => h("input", {
    type: "checkbox", "aria-label": label, checked: isPicked,
    onchange: (event) => pick(some, event.currentTarget.checked),
  });
  const link = (one, at) => h("li", { "data-key": one.id },
    box(queueWords.pick(one.title ?? one.itemId), picked.has(one.id), [one.id]),
    h("a", {
      href: addressOf(one.id, filter), dir: "auto", "aria-current": at === index ? "true" : null,
    },
      oneLine(one.title ?? one.itemId), h("span", { class: "quiet-text" }, one.table),
      draft.read(draftOf.conflict(one.id)) && unsavedMark()));
  return [
    h("label", { class: "pick-all" }, box(said.pickAll, picked.size === list.length, ids), said.pickAll),
    h("ul", { class: "plain" }, list.map(link)),
    total > list.length && note(said.conflictsMore(total - list.length)),
  ];
}

/** `isAll` says whether all conflicts were compared. */
function alikeCard(conflict, count, isAll, decide) {
  const choices = choicesFor(conflict).filter((choice) => choice !== "edited");
  return h("section", { class: "card alike", "aria-labelledby": "alike-title" },
    h("h2", { id: "alike-title" }, said.alike(count, isAll)),
    note(said.alikeMeans),
    choiceButtons(choices, decide));
}

/** One choice for all conflicts that match, whatever they clash about. */
function matchingCard(title, decide) {
  return h("details", { class: "card alike" },
    h("summary", {}, title),
    note(said.wholeTableMeans),
    choiceButtons(manyChoices, decide));
}
