// Draws the conflicts view: the place in the list, the card, and the choices that decide many at once.

import { addressOf, alikeOnes, choicesFor } from "./conflicts-state.js";
import { button, fill, h, note, refill } from "./dom.js";
import { downloads } from "./download.js";
import { draft, draftOf } from "./drafts.js";
import { oneLine } from "./formats.js";
import { leftText, unsavedLine, unsavedMark } from "./unsaved.js";
import { conflictWords as said } from "./words-conflicts.js";
import { views, words } from "./words.js";

const tableChoices = ["merged", "mine", "server", "both"];

/** Builds the page in `main`. Gives a function for each part that draws it. */
export function conflictsPage(main, { step, decideAlike, decideTable }) {
  const page = h("section", { class: "page wide" });
  const place = h("span", { class: "position count" });
  const bar = h("div", { class: "bar" });
  const files = downloads((format) => `/conflicts?format=${format}`);
  const many = h("div", {}); // The choices that decide many at once.
  const list = h("nav", { class: "conflict-list card", "aria-label": said.conflictList });
  let conflicts = h("div", {});
  let listed = ""; // The conflicts that are drawn in the list.
  fill(main, page);

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
    const now = JSON.stringify([state.total, state.index, state.list.map((one) => [one.id, one.title])]);
    if (now === listed) return;
    listed = now;
    const conflict = state.list[state.index];
    const alike = alikeOnes(state, conflict);
    const isAll = state.list.length >= state.total;
    const hasOthers = state.list.length > 1;
    refill(bar, place, files, hasOthers && stepButtons(step));
    refill(list, listOf(state));
    if (!hasOthers) list.remove();
    else if (list.parentNode !== conflicts) conflicts.prepend(list);
    refill(many,
      alike.length > 1 &&
        alikeCard(conflict, alike.length, isAll, (choice) => decideAlike(conflict, choice)),
      state.total > 1 && (state.total > alike.length || !isAll) &&
        tableCard(conflict.table, (choice) => decideTable(conflict.table, choice)));
  }

  return {
    draw, drawPlace, drawList,
    drawProgress: (done, total) => refill(place, said.deciding(done, total)),
    drawCounting: (count) => refill(place, said.counting(count)),
    drawNone: (left, giveUp) => fill(page, h("h1", {}, views.conflicts),
      unsavedParts("", left, giveUp), h("p", { class: "empty" }, said.noConflicts)),
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

const choiceButtons = (choices, decide) => h("div", { class: "actions" },
  choices.map((choice) => button({ onclick: () => decide(choice) }, said.forAll[choice])));

/** The conflicts that were read, beside the one on screen. A narrow page hides them. */
function listOf({ list, index, total }) {
  const link = (one, at) => h("li", { "data-key": one.id },
    h("a", {
      href: addressOf(one.id), dir: "auto", "aria-current": at === index ? "true" : null,
    },
      oneLine(one.title ?? one.itemId), h("span", { class: "quiet-text" }, one.table),
      draft.read(draftOf.conflict(one.id)) && unsavedMark()));
  return [
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

/** One choice for all conflicts of the table, whatever they clash about. */
function tableCard(table, decide) {
  return h("details", { class: "card alike" },
    h("summary", {}, said.wholeTable(table)),
    note(said.wholeTableMeans),
    choiceButtons(tableChoices, decide));
}
