// One conflict: a card for each side with who and when, and the version to be saved, field by field.

import { conflictField, valueOf } from "./field.js";
import { choicesFor } from "./state.js";
import { readable } from "../shared/diff.js";
import { button, facts, h, joined, note, onFirstClick } from "../shared/dom.js";
import { draft, draftOf } from "../shared/drafts.js";
import { oneLine, time } from "../shared/formats.js";
import { toast } from "../shared/messages.js";
import { conflictWords as said } from "./words.js";
import { words } from "../shared/words.js";

const keys = { mine: "m", server: "s", edited: "a", both: "b" };
const labels = {
  mine: said.keepMine, server: said.keepServer, edited: said.useResult, both: said.keepBoth,
};

/**
 * The card. What a person typed into an earlier card of the conflict is there again.
 * @param {ConflictDetail} conflict
 * @returns {ConflictCard}
 */
export function conflictCard(conflict, decide) {
  const draftName = draftOf.conflict(conflict.id);
  /** @type {Map<string, TypedField>} */
  const typed = new Map(draft.read(draftName)?.fields);
  const wasTyped = typed.size > 0;
  const fields = conflict.fields.map((field) =>
    conflictField(field, conflict, typed.get(field.name), (now) => keepTyped(field.name, now)));
  const choices = choicesFor(conflict);
  // Where a column does not differ any more, or a side has no row, no field has the text.
  const unshown = [...typed].filter(([name]) =>
    !choices.includes("edited") || !fields.some((one) => one.name === name));
  const sentences = choices.map((choice) => h("span", {}, said.outcome[choice]));

  function keepTyped(name, now) {
    if (now) typed.set(name, now);
    else typed.delete(name);
    const { id, itemId, title } = conflict;
    if (typed.size) draft.write(draftName, { id, title: title ?? itemId, fields: [...typed] });
    else draft.forget(draftName);
  }

  function choose(choice) {
    if (!choices.includes(choice)) return false;
    const item = choice === "edited" ? itemOf(fields) : undefined;
    if (item !== null) decide(conflict, choice, item);
  }

  /** Shows what a choice would write, while the pointer or the focus is on it. */
  function preview(choice) {
    const side = choice === "edited" ? null : choice === "mine" ? "mine" : "server";
    for (const field of fields) field.preview(side);
    choices.forEach((one, place) => sentences[place].classList.toggle("unsaid", one !== choice));
  }
  const endPreview = () => preview("edited");

  const choiceButton = (choice) => button({
    class: choice === "edited" ? "primary" : null, "aria-keyshortcuts": keys[choice],
    title: said.byKey(keys[choice]), onclick: onFirstClick(() => choose(choice)),
    onpointerenter: () => preview(choice), onpointerleave: endPreview,
    onfocus: () => preview(choice), onblur: endPreview,
  }, labels[choice]);

  endPreview();
  const element = h("article", { class: "card conflict", "aria-labelledby": "conflict-title" },
    h("h1", { id: "conflict-title", tabindex: "-1" }, headline(conflict)),
    note(joined(conflict.table, conflict.reason)),
    versions(fields, conflict),
    choices.includes("edited") ? result(fields, conflict, sentences) : outcomes(conflict, choices),
    wasTyped && note(words.unsavedHere),
    unshown.map(([name, one]) => h("pre", { tabindex: "0", dir: "auto" }, `${name}: ${one.text}`)),
    fields.some((field) => field.hasChanged) && note(said.changedMeanwhile),
    h("div", { class: "actions sticky" },
      choices.map(choiceButton),
      h("a", { class: "button", href: "#/todos" }, said.notNow)));
  const focusField = (name) => fields.find((field) => field.name === name)?.input.focus();
  return { conflict, element, choose, focusField };
}

/** @param {ConflictDetail} conflict */
function headline({ title, itemId, serverDeleted, mineDeleted }) {
  const name = oneLine(title ?? itemId);
  if (serverDeleted) return said.conflictDeletedThere(name);
  if (mineDeleted) return said.conflictDeletedHere(name);
  return said.conflictOf(name);
}

/**
 * The two sides beside one another: who wrote them and when, and the fields in which they differ.
 * @param {ConflictDetail} conflict
 */
function versions(fields, conflict) {
  const { mineActor, mineClient, mineAt, serverAt } = conflict;
  const who = mineClient ?? words.actor[mineActor] ?? mineActor;
  return h("div", { class: "versions" },
    version("mine", said.mine, said.onThisDevice(who, mineAt), mineAt, conflict.mineDeleted
      ? h("em", {}, words.deletedSide)
      : fields.length ? fields.map((field) => field.sides.mine) : columnsOf(conflict.mine)),
    version("server", words.server, said.anotherWriter(serverAt), serverAt, conflict.serverDeleted
      ? h("em", {}, words.deletedSide)
      : fields.length ? fields.map((field) => field.sides.server) : columnsOf(conflict.server)));
}

const version = (side, name, who, when, content) =>
  h("section", { class: `version ${side}`, "aria-labelledby": `version-${side}` },
    h("div", {},
      h("h2", { id: `version-${side}` }, name),
      h("span", { class: "quiet-text", title: when ? time(when) : null }, who)),
    content);

/** All columns of a row whose other side is deleted: nothing is compared. */
const columnsOf = (row) => Object.entries(row ?? {}).map(([name, value]) =>
  h("div", { class: "side-choice" }, h("span", { class: "name" }, name), valueOf(value, undefined)));

/**
 * The version to be saved, with the fields in which the sides differ.
 * @param {ConflictDetail} conflict
 */
const result = (fields, conflict, sentences) =>
  h("section", { class: "version result", "aria-labelledby": "version-result" },
    h("div", {},
      h("h2", { id: "version-result" }, said.resultTitle),
      h("p", { class: "quiet-text outcome" }, sentences)),
    fields.map((field) => field.result),
    sameFields(conflict));

/** The fields that both sides agree on are saved as well. */
function sameFields({ mine, fields }) {
  const names = fields.map((field) => field.name);
  const same = Object.entries(mine ?? {}).filter(([name]) => !names.includes(name));
  return same.length > 0 && h("details", {},
    h("summary", { class: "quiet-text" }, said.sameFields(same.length)),
    facts(same.map(([name, value]) => [name, value === null ? words.absent : readable(value)])));
}

/** What each choice writes where one side is deleted and there is nothing to merge. */
function outcomes({ mineDeleted }, choices) {
  const sentences = mineDeleted ? said.outcomeDeletedHere : said.outcomeDeletedThere;
  return h("section", { class: "version result", "aria-labelledby": "version-result" },
    h("div", {}, h("h2", { id: "version-result" }, said.resultTitle)),
    facts(choices.map((choice) => [labels[choice], sentences[choice]])));
}

/** The result of every field, or null when one cannot be read; that field gets the focus. */
function itemOf(fields) {
  const item = {};
  for (const field of fields) {
    try {
      item[field.name] = field.value();
    } catch {
      field.input.focus();
      toast(words.invalidResult(field.name));
      return null;
    }
  }
  return item;
}
