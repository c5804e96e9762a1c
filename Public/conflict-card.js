// One conflict, field by field: last agreed, yours, on the server, and the version to be saved.

import { parseJSON } from "./api.js";
import { choicesFor } from "./conflicts-state.js";
import { marked, readable } from "./diff.js";
import { button, find, h, joined, note } from "./dom.js";
import { toast } from "./messages.js";
import { words } from "./words.js";

const linesMost = 14;
const lettersOfLine = 28;
const longLetters = 300; // A longer value scrolls.
const keys = { mine: "m", server: "s", edited: "a", both: "b" };
const labels = {
  mine: words.keepMine, server: words.keepServer, edited: words.useResult, both: words.keepBoth,
};

/**
 * The card. `typed` has what a person typed into an earlier card of the conflict, by field.
 * @param {ConflictDetail} conflict
 * @returns {ConflictCard}
 */
export function conflictCard(conflict, decide, typed) {
  const fields = conflict.fields.map((field) => conflictField(field, conflict, typed.get(field.name)));
  const choices = choicesFor(conflict);

  function choose(choice) {
    if (!choices.includes(choice)) return false;
    const item = choice === "edited" ? itemOf(fields) : undefined;
    if (item !== null) decide(conflict, choice, item);
  }

  const choiceButton = (choice) => button({
    class: choice === "edited" ? "primary" : null, "aria-keyshortcuts": keys[choice],
    title: words.byKey(keys[choice]), onclick: () => choose(choice),
  }, labels[choice]);
  const element = h("article", { class: "card conflict", "aria-labelledby": "conflict-title" },
    h("h1", { id: "conflict-title" }, headline(conflict)),
    note(joined(conflict.table, conflict.reason)),
    fields.length > 0 && sides(fields, conflict),
    choices.includes("edited") && sameFields(conflict),
    h("div", { class: "actions sticky" },
      choices.map(choiceButton),
      h("a", { class: "button", href: "#/todos" }, words.notNow)));
  const typedNow = () =>
    new Map(fields.filter((field) => field.isTyped()).map((field) => [field.name, field.input.value]));
  return { conflict, element, choose, typed: typedNow };
}

/** @param {ConflictDetail} conflict */
function headline({ title, itemId, serverDeleted, mineDeleted }) {
  const name = title ?? itemId;
  if (serverDeleted) return words.conflictDeletedThere(name);
  if (mineDeleted) return words.conflictDeletedHere(name);
  return words.conflictOf(name);
}

function sides(fields, conflict) {
  const { mineActor, mineClient, mineAt, serverAt } = conflict;
  const who = mineClient ?? words.actor[mineActor] ?? mineActor;
  const heads = [
    words.field, words.base,
    [words.mine, h("span", { class: "quiet-text" }, words.onThisDevice(who, mineAt))],
    [words.server, h("span", { class: "quiet-text" }, words.anotherWriter(serverAt))],
    words.result,
  ];
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-labelledby": "conflict-title" },
    h("table", { class: "sides" },
      h("thead", {}, h("tr", {}, heads.map((name) => h("th", { scope: "col" }, name)))),
      h("tbody", {}, fields.map((field) => field.element))));
}

/** @param {ConflictDetail} conflict */
function sameFields({ mine, fields }) {
  const count = Object.keys(mine ?? {}).length - fields.length;
  return count > 0 && note(words.sameFields(count));
}

/** The result of every field, or null when one cannot be read; that field gets the focus. */
function itemOf(fields) {
  const item = {};
  for (const { name, input, isText, isAbsent } of fields) {
    try {
      item[name] = isAbsent() ? null : isText ? input.value : parseJSON(input.value);
    } catch {
      input.focus();
      toast(words.invalidResult(name));
      return null;
    }
  }
  return item;
}

/**
 * The row of a field. `typed` is what a person typed into an earlier row of it.
 * @param {ConflictField} field
 * @param {ConflictDetail} conflict
 */
function conflictField({ name, base, mine, server, overlaps }, conflict, typed) {
  let isAbsent = false; // The value is null, and not an empty text.
  let isTyped = false;
  const input = h("textarea", { dir: "auto", "aria-label": `${words.result}: ${name}`, oninput: onInput });

  function onInput() {
    isAbsent = false;
    isTyped = true;
    fit();
    drawChoice();
  }

  /** Marks the side whose value the result has; none where a person typed another one. */
  function drawChoice() {
    const isOf = (value) => input.value === (readable(value) ?? "");
    const chosen = isOf(mine) ? radios.mine : isOf(server) ? radios.server : null;
    for (const radio of Object.values(radios)) radio.checked = radio === chosen;
  }

  function fit() {
    const { value } = input;
    const lines = Math.max(2, value.split("\n").length, Math.ceil(value.length / lettersOfLine));
    input.rows = Math.min(linesMost, lines);
  }

  function set(value) {
    input.value = readable(value) ?? "";
    isAbsent = value === null || value === undefined;
    fit();
    drawChoice();
  }

  const radio = (value, label) => h("input", {
    type: "radio", name: `side-${conflict.id}-${name}`, "aria-label": label,
    onchange() {
      isTyped = true; // A chosen side is kept as what is typed.
      set(value);
    },
  });
  const radios = {
    mine: radio(mine, words.useMine(name)),
    server: radio(server, words.useServer(name)),
  };

  // Where both sides changed a field, the result starts with the person's own text, so that none is lost.
  const proposed = conflict.proposed?.[name];
  set(overlaps || proposed === undefined ? mine : proposed);
  if (typed !== undefined) {
    input.value = typed;
    onInput();
  }

  // On a narrow page the name of the side stands in the cell (views.css).
  const cell = (side, ...children) => h("td", { "data-side": side }, children);
  const sideCell = (side, value, other, isDeleted, choice) => cell(side, isDeleted
    ? h("em", {}, words.deletedSide)
    : h("label", { class: "side-choice" }, choice, valueOf(value, other)));
  const element = h("tr", { class: overlaps ? "overlaps" : "" },
    h("th", { scope: "row" },
      name, h("span", { class: "quiet-text" }, overlaps ? words.bothChanged : words.oneChanged)),
    cell(words.base, valueOf(base, undefined)),
    sideCell(words.mine, mine, server, conflict.mineDeleted, radios.mine),
    sideCell(words.server, server, mine, conflict.serverDeleted, radios.server),
    cell(words.result, input));
  const isText = [base, mine, server].every((value) => typeof (value ?? "") === "string");
  return { name, element, input, isText, isAbsent: () => isAbsent, isTyped: () => isTyped };
}

/** A value with marks around what is not in `other`; a long one is scrolled to its first mark. */
function valueOf(value, other) {
  const text = readable(value);
  if (text === null || value === null) return h("em", {}, words.absent);
  const isLong = text.length > longLetters;
  const element = h("div", { class: "value", dir: "auto", tabindex: isLong ? "0" : null },
    marked(text, other === null ? "" : readable(other)));
  if (isLong) requestAnimationFrame(() => showChange(element));
  return element;
}

function showChange(element) {
  const mark = find(element, "mark");
  if (mark) element.scrollTop = mark.offsetTop - element.offsetTop - element.clientHeight / 3;
}
