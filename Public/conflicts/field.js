// One field of a conflict: its value on each side with a radio button, and the value to be saved.

import { parseJSON } from "../shared/api.js";
import { marked, readable } from "../shared/diff.js";
import { find, fit, h } from "../shared/dom.js";
import { conflictWords as said } from "./words.js";
import { words } from "../shared/words.js";

const linesMost = 14;
const lettersOfLine = 48;
const longLetters = 300; // A longer value scrolls.

/** A value as its text in a field. The field of a null is empty. */
const textOf = (value) => (value === null ? "" : (readable(value) ?? ""));
const isSame = (one, other) => JSON.stringify(one ?? null) === JSON.stringify(other ?? null);

/**
 * The parts of a field, which the card puts in place. `typed` is what a person made of it in an earlier card;
 * `onTyped` is told what it is now, with null where it is as at first.
 * @param {ConflictField} field
 * @param {ConflictDetail} conflict
 * @param {TypedField | undefined} typed
 * @param {(typed: TypedField | null) => void} onTyped
 */
export function conflictField({ name, base, mine, server, overlaps }, conflict, typed, onTyped) {
  let text = ""; // What is saved, also while the field shows what another choice would save.
  /** @type {{ value: any } | null} */
  let taken = null; // The value of a side, which is saved as it is; null where a person typed another one.
  /** @type {[number, number]} */
  let cursor = [0, 0]; // Where it was before the field showed what another choice would save.
  const input = h("textarea", { dir: "auto", id: `result-${name}`, "aria-label": `${said.result}: ${name}`,
    oninput: onInput, onfocus: endPreview, onkeydown: endPreview });
  const isText = [base, mine, server].every((value) => typeof (value ?? "") === "string");

  function onInput() {
    text = input.value;
    taken = valueWithText([mine, server]);
    fit(input, lettersOfLine, linesMost);
    drawChoice();
    tell();
  }

  /** The first of some values that is shown as the text. */
  function valueWithText(values) {
    const found = values.find((value) => value !== null && text === readable(value));
    return found === undefined ? null : { value: found };
  }

  /** Whether the result is this value of a side. */
  const isOf = (value) => taken !== null && isSame(taken.value, value);
  /** @returns {TypedField["side"]} */
  const sideOfResult = () => (isOf(mine) ? "mine" : isOf(server) ? "server" : null);
  const began = JSON.stringify([mine ?? null, server ?? null]);
  const typedNow = () => ({ text, side: sideOfResult(), began });

  function tell() {
    onTyped(JSON.stringify(typedNow()) === atFirst ? null : typedNow());
  }

  /** Marks the side whose value the result has; none where a person typed another one. */
  function drawChoice(side = sideOfResult()) {
    for (const [name, radio] of Object.entries(radios)) radio.checked = name === side;
    input.placeholder = taken && isSame(taken.value, null) ? words.absent : "";
  }

  function take(side) {
    const value = side === "mine" ? mine : server;
    taken = { value: value ?? null };
    text = textOf(value);
    input.value = text;
    fit(input, lettersOfLine, linesMost);
    drawChoice(side);
  }

  const radio = (side, label) => h("input", {
    type: "radio", name: `side-${conflict.id}-${name}`, "aria-label": label,
    onchange() {
      take(side);
      tell(); // A chosen side is kept as what is typed.
    },
  });
  const radios = {
    mine: radio("mine", said.useMine(name)),
    server: radio("server", said.useServer(name)),
  };

  // Where both sides changed a field, the result starts with the person's own text, so that none is lost.
  take(overlaps || !isSame(mine, base) ? "mine" : "server");
  const atFirst = JSON.stringify(typedNow());
  if (typed?.side) take(typed.side); // It is the side's value as it is now.
  else if (typed) {
    ({ text } = typed);
    taken = valueWithText([mine, server]);
    input.value = text;
    fit(input, lettersOfLine, linesMost);
    drawChoice();
  }

  /**
   * Shows what another choice would save; null shows again what this field saves. So does a key, or the
   * focus: no letter is lost while the pointer rests on a choice.
   * @param {"mine" | "server" | null} choice
   */
  function preview(choice) {
    if (choice === null) return endPreview();
    if (!input.readOnly) cursor = [input.selectionStart, input.selectionEnd];
    // Fields that only the server changed keep its value, whichever side is kept.
    const value = choice === "mine" && !isSame(mine, base) ? mine : server;
    input.value = textOf(value);
    input.readOnly = true;
  }

  function endPreview() {
    if (!input.readOnly) return;
    input.value = text;
    input.readOnly = false;
    input.setSelectionRange(...cursor);
  }

  const side = (choice, value, other) => h("label", { class: `side-choice${overlaps ? " overlaps" : ""}` },
    choice,
    h("span", { class: "name" }, name),
    isSame(value, base) && h("span", { class: "quiet-text" }, said.unchangedHere),
    valueOf(value, other));

  return {
    name, input,
    sides: { mine: side(radios.mine, mine, server), server: side(radios.server, server, mine) },
    result: h("div", { class: "result-field" },
      h("label", { for: `result-${name}` },
        h("span", { class: "name" }, name),
        h("span", { class: overlaps ? "attention" : "quiet-text" },
          overlaps ? said.bothChanged : said.oneChanged)),
      input,
      h("div", { class: "quiet-text agreed" }, `${words.base}: `,
        base === null || base === undefined ? words.absent : h("bdi", {}, readable(base)))),
    /** The value to be saved. Throws where the text should be JSON and is not. */
    value: () => (taken ? taken.value : isText ? text : parseJSON(text)),
    /** Whether a side has another value than when a person typed. */
    hasChanged: typed !== undefined && typed.began !== began,
    preview,
  };
}

/** A value with marks around what is not in `other`; a long one is scrolled to its first mark. */
export function valueOf(value, other) {
  const text = readable(value);
  if (text === null || value === null) return h("em", { class: "value" }, words.absent);
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
