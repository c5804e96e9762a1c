// Draws the conflicts view: the place in the list, the card, and the choices that decide many at once.

import { addressOf, alikeOnes, choicesFor } from "./conflicts-state.js";
import { button, fill, h, note } from "./dom.js";
import { conflictWords as said } from "./words-conflicts.js";
import { views, words } from "./words.js";

const tableChoices = ["merged", "mine", "server", "both"];

/** Builds the page in `main`. Gives a function for each part that draws it. */
export function conflictsPage(main, { step, decideAlike, decideTable }) {
  const page = h("section", { class: "page wide" });
  const place = h("span", { class: "position count" });
  fill(main, page);

  const drawPlace = ({ index, total }) => fill(place, said.position(index + 1, total));

  /** Draws the conflict on screen with its card. */
  function draw(state, card) {
    const conflict = state.list[state.index];
    const alike = alikeOnes(state, conflict);
    const isAll = state.list.length >= state.total;
    drawPlace(state);
    fill(page,
      h("div", { class: "bar" }, place, state.list.length > 1 && stepButtons(step)),
      h("div", { class: "conflicts" },
        state.list.length > 1 && conflictList(state),
        h("div", {},
          card,
          alike.length > 1 &&
            alikeCard(conflict, alike.length, isAll, (choice) => decideAlike(conflict, choice)),
          state.total > 1 && (state.total > alike.length || !isAll) &&
            tableCard(conflict.table, (choice) => decideTable(conflict.table, choice)))));
  }

  return {
    draw, drawPlace,
    drawProgress: (done, total) => fill(place, said.deciding(done, total)),
    drawCounting: (count) => fill(place, said.counting(count)),
    drawNone: () => fill(page, h("h1", {}, views.conflicts), h("p", { class: "empty" }, said.noConflicts)),
  };
}

const stepButtons = (step) => h("span", { class: "actions" },
  button({ onclick: () => step(-1) }, words.previous),
  button({ onclick: () => step(1) }, words.next));

const choiceButtons = (choices, decide) => h("div", { class: "actions" },
  choices.map((choice) => button({ onclick: () => decide(choice) }, said.forAll[choice])));

/** The conflicts that were read, beside the one on screen. A narrow page hides them. */
function conflictList({ list, index, total }) {
  const link = (one, at) => h("li", {},
    h("a", { href: addressOf(one.id), dir: "auto", "aria-current": at === index ? "true" : null },
      one.title ?? one.itemId, h("span", { class: "quiet-text" }, one.table)));
  return h("nav", { class: "conflict-list card", "aria-label": said.conflictList },
    h("ul", { class: "plain" }, list.map(link)),
    total > list.length && note(said.conflictsMore(total - list.length)));
}

/** `isAll` says whether all conflicts were compared. */
function alikeCard(conflict, count, isAll, decide) {
  const choices = choicesFor(conflict).filter((choice) => choice !== "edited");
  return h("section", { class: "card alike", "aria-labelledby": "alike-title" },
    h("h2", { id: "alike-title" }, said.alike(count, isAll)),
    note(said.alikeMeans),
    choiceButtons(choices, decide));
}

/** One choice for all conflicts of the table, whatever they clash about. */
function tableCard(table, decide) {
  return h("details", { class: "card alike" },
    h("summary", {}, said.wholeTable(table)),
    note(said.wholeTableMeans),
    choiceButtons(tableChoices, decide));
}
