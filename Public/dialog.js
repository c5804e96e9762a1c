// Questions and sheets in front of the page, with the browser's own dialog: focus stays inside,
// Escape closes, and what had the focus gets it back.

import { h } from "./dom.js";
import { words } from "./words.js";

/** Shows a sheet with a heading; `content(close)` gives what is in it. Resolves to what `close` was given. */
export function sheet(title, content) {
  return new Promise((resolve) => {
    let answer;
    const close = (value) => {
      answer = value;
      dialog.close();
    };
    const dialog = h("dialog", { "aria-labelledby": "dialog-title", onclose: () => (dialog.remove(), resolve(answer)) },
      h("h2", { id: "dialog-title" }, title), content(close));
    document.body.append(dialog);
    dialog.showModal();
  });
}

/** Asks before something that somebody may regret. Resolves to true when it shall be done. */
export async function ask(title, text, label) {
  return (await sheet(title, (close) => [
    h("p", {}, text),
    h("div", { class: "actions end" },
      h("button", { type: "button", onclick: () => close(false) }, words.cancel),
      h("button", { type: "button", class: "primary", autofocus: true, onclick: () => close(true) }, label)),
  ])) === true;
}
