// The field of a text that is edited: it grows with its lines, and knows what a person typed.

import { fit, h } from "../shared/dom.js";
import { isComposing } from "../shared/keys.js";

const lettersOfLine = 60;
const linesMost = 14;

/**
 * Enter saves, Shift and Enter breaks the line, Escape gives up.
 * @param {string} label
 * @param {{ onInput(): void, onSave(): void, onEscape(): void }} actions
 */
export function editField(label, { onInput, onSave, onEscape }) {
  let untouched = "";
  let breaksLong = false; // The stored text breaks its lines with two characters, which a browser makes one.
  const element = h("textarea", {
    class: "edit", dir: "auto", rows: 1, "aria-label": label, oninput, onkeydown,
  });

  const grow = () => fit(element, lettersOfLine, linesMost);

  function oninput() {
    grow();
    onInput();
  }

  function onkeydown(event) {
    if (isComposing(event) || (event.key !== "Escape" && event.key !== "Enter") || event.shiftKey) return;
    // Without this the same key press would also click the button that gets the focus next.
    event.preventDefault();
    if (event.key === "Enter") onSave();
    else onEscape();
  }

  return {
    element,
    isDirty: () => element.value !== untouched,
    isBlank: () => !element.value.trim(),
    /** What is typed, as it is stored. */
    typed: () => (breaksLong ? element.value.replaceAll("\n", "\r\n") : element.value),
    /** Shows the text of the row. */
    show(text) {
      element.value = text;
      this.rebase(text);
      grow();
    },
    /** Compares what is typed with another text of the row from now on. */
    rebase(text) {
      breaksLong = text.includes("\r\n");
      untouched = text.replaceAll(/\r\n?/g, "\n");
    },
    /** Shows what was typed earlier. */
    retype(text) {
      element.value = text;
      grow();
    },
  };
}
