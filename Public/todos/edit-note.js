// What is said below a text that is edited: what happened to its row, and what can be done about it.

import { button, h, refill } from "../shared/dom.js";
import { announce } from "../shared/messages.js";
import { words } from "../shared/words.js";

const said = words.editing;
let notes = 0; // Counts them, for their ids.

/**
 * The note of a field. `actions` are what its buttons do.
 * @param {HTMLElement} field
 * @param {Record<"addAsNew" | "keepMine" | "again" | "drop", () => void>} actions
 */
export function editNote(field, actions) {
  let shown = "";
  const element = h("div", { class: "edit-note", id: `edit-note-${++notes}`, hidden: true });
  field.setAttribute("aria-describedby", element.id);

  return {
    element,
    /** Says it once more, as the answer to a save that would need a choice first. */
    repeat: () => announce(shown),
    /** @param {EditState} state */
    draw(state) {
      const { sentence, buttons = [] } = partsOf(state, actions);
      if (sentence === shown) return;
      shown = sentence;
      element.hidden = !sentence;
      refill(element, h("span", { dir: "auto" }, sentence), buttons.map(([label, onclick]) =>
        button({ class: "small", "data-key": label, onclick }, label)));
      if (sentence) announce(sentence);
    },
  };
}

/**
 * `theirs` is a newer text: the person has to choose between it and the typed one.
 * @typedef {{
 *   isSlow: boolean, isGone: boolean, isElsewhere: boolean, theirs: StoredText | null, failure: string,
 * }} EditState
 */

/**
 * @param {EditState} state
 * @returns {{ sentence: string, buttons?: [string, () => void][] }}
 */
function partsOf({ isSlow, isGone, isElsewhere, theirs, failure }, { addAsNew, keepMine, again, drop }) {
  if (isSlow) return { sentence: said.saving };
  if (isGone)
    return { sentence: said.gone(failure), buttons: [[said.addAsNew, addAsNew], [words.giveUp, drop]] };
  if (theirs)
    return {
      sentence: said.changed(theirs.text),
      buttons: [[said.keepMine, keepMine], [said.takeTheirs, drop]],
    };
  if (failure)
    return { sentence: said.failed(failure), buttons: [[said.again, again], [words.giveUp, drop]] };
  return { sentence: isElsewhere ? said.elsewhere : "" };
}
