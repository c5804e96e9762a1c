// Questions and sheets in front of the page, with the browser's own dialog: the focus stays inside, Escape
// closes it, and the element that had the focus gets it back.

import { button, h } from "./dom.js";
import { words } from "./words.js";

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

/**
 * Asks before an action that can be undone: Enter does it. Resolves to whether to do it.
 * @param {string} title
 * @param {string | any[]} text
 * @param {string} label What is done, with its number.
 * @param {"primary" | "danger"} [kind]
 */
export const ask = (title, text, label, kind = "primary") => choose(title, text, (close) => [
  button({ onclick: () => close(false) }, words.cancel),
  button({ class: kind, autofocus: true, onclick: () => close(true) }, label),
]);

/** Asks before an action that cannot be undone: Enter cancels. Resolves to whether to do it. */
export const askDangerous = (title, text, label) => choose(title, text, (close) => [
  button({ autofocus: true, onclick: () => close(false) }, words.cancel),
  button({ class: "danger", onclick: () => close(true) }, label),
]);

async function choose(title, text, buttons) {
  const answer = await sheet(title, (close) =>
    [h("p", {}, text), h("div", { class: "actions end" }, buttons(close))]);
  return answer === true;
}
