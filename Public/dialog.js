// Questions and sheets in front of the page, with the browser's own dialog: the focus stays inside, Escape
// closes it, and the element that had the focus gets it back.

import { button, column, h } from "./dom.js";
import { words } from "./words.js";

const typedFrom = 100; // So many rows or changes are not lost by one click.

/** Shows a sheet with a heading and with what `content(close)` gives. Resolves to what `close` was given. */
export function sheet(title, content) {
  return new Promise((resolve) => {
    let answer;
    const close = (value) => {
      answer = value;
      dialog.close();
    };
    const onclose = () => {
      dialog.remove();
      resolve(answer);
    };
    const dialog = h("dialog", { "aria-labelledby": "dialog-title", onclose },
      h("h2", { id: "dialog-title" }, title), content(close));
    document.body.append(dialog);
    dialog.showModal();
  });
}

/** Asks before an action that loses nothing. Resolves to whether to do it. */
export async function ask(title, text, label) {
  const answer = await sheet(title, (close) => [
    h("p", {}, text),
    h("div", { class: "actions end" },
      button({ onclick: () => close(false) }, words.cancel),
      button({ class: "primary", autofocus: true, onclick: () => close(true) }, label)),
  ]);
  return answer === true;
}

/**
 * Asks before something that a person may regret. Enter cancels, and from `typedFrom` on the person types the
 * number. Resolves to whether to do it.
 * @param {string} title
 * @param {string} text
 * @param {string} label What is done, with its number.
 * @param {number} count How many rows or changes it is about.
 */
export async function askDangerous(title, text, label, count) {
  const isTyped = count >= typedFrom;
  const answer = await sheet(title, (close) => {
    const go = button({ class: "danger", disabled: isTyped, onclick: () => close(true) }, label);
    const field = h("input", {
      inputmode: "numeric", autocomplete: "off",
      oninput: () => (go.disabled = field.value.replace(/\D/g, "") !== String(count)),
    });
    return [
      h("p", {}, text),
      isTyped && column(words.typeNumber(count), field),
      h("div", { class: "actions end" },
        button({ autofocus: true, onclick: () => close(false) }, words.cancel),
        go),
    ];
  });
  return answer === true;
}
