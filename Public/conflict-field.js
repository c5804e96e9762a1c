// One field of a conflict: its value on each side with a radio button, and the value to be saved.

import { parseJSON } from "./api.js";
import { marked, readable } from "./diff.js";
import { find, h, linesOf } from "./dom.js";
import { conflictWords as said } from "./words-conflicts.js";
import { words } from "./words.js";

const linesMost = 14;
const lettersOfLine = 48;
const longLetters = 300; // A longer value scrolls.

/** A value as its text in a field. The field of a null is empty. */
const textOf = (value) => (value === null ? "" : (readable(value) ?? ""));
const isSame = (one, other) => JSON.stringify(one ?? null) === JSON.stringify(other ?? null);

/**
 * The parts of a field, which the card puts in place. `typed` is what a person typed into an earlier card.
 * @param {ConflictField} field
 * @param {ConflictDetail} conflict
 * @param {TypedField | undefined} typed
 */
export function conflictField({ name, base, mine, server, overlaps }, conflict, typed) {
  let text = ""; // What is saved, also while the field shows what another choice would save.
  /** @type {{ value: any } | null} */
  let taken = null; // The value of a side, which is saved as it is; null where a person typed another one.
  let isTyped = false;
  const input = h("textarea", { dir: "auto", id: `result-${name}`, "aria-label": `${said.result}: ${name}`,
    oninput: onInput });
  const isText = [base, mine, server].every((value) => typeof (value ?? "") === "string");

  function onInput() {
    isTyped = true;
    text = input.value;
    const side = [mine, server].find((value) => value !== null && text === readable(value));
    taken = side === undefined ? null : { value: side };
    fit();
    drawChoice();
  }

  /** Whether the result is this value of a side. */
  const isOf = (value) => taken !== null && isSame(taken.value, value);

  /** Marks the side whose value the result has; none where a person typed another one. */
  function drawChoice(side = isOf(mine) ? "mine" : isOf(server) ? "server" : null) {
    for (const [name, radio] of Object.entries(radios)) radio.checked = name === side;
    input.placeholder = taken && isSame(taken.value, null) ? words.absent : "";
  }

  function fit() {
    input.rows = Math.min(linesMost, linesOf(text, lettersOfLine));
  }

  function take(side) {
    const value = side === "mine" ? mine : server;
    taken = { value: value ?? null };
    text = textOf(value);
    input.value = text;
    fit();
    drawChoice(side);
  }

  const radio = (side, label) => h("input", {
    type: "radio", name: `side-${conflict.id}-${name}`, "aria-label": label,
    onchange() {
      isTyped = true; // A chosen side is kept as what is typed.
      take(side);
    },
  });
  const radios = {
    mine: radio("mine", said.useMine(name)),
    server: radio("server", said.useServer(name)),
  };

  // Where both sides changed a field, the result starts with the person's own text, so that none is lost.
  take(overlaps || !isSame(mine, base) ? "mine" : "server");
  if (typed !== undefined) {
    ({ text, taken } = typed);
    isTyped = true;
    input.value = text;
    fit();
    drawChoice();
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
    isTyped: () => isTyped,
    typed: () => ({ text, taken }),
    /** The value to be saved. Throws where the text should be JSON and is not. */
    value: () => (taken ? taken.value : isText ? text : parseJSON(text)),
    /**
     * Shows what another choice would save; null shows again what this field saves.
     * @param {"mine" | "server" | null} choice
     */
    preview(choice) {
      // Fields that only the server changed keep its value, whichever side is kept.
      const value = choice === "mine" && !isSame(mine, base) ? mine : server;
      input.value = choice ? textOf(value) : text;
      input.readOnly = choice !== null;
    },
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
