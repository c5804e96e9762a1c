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

/** Asks before something that a person may regret. Resolves to whether to do it. */
export async function ask(title, text, label) {
  const answer = await sheet(title, (close) => [
    h("p", {}, text),
    h("div", { class: "actions end" },
      button({ onclick: () => close(false) }, words.cancel),
      button({ class: "primary", autofocus: true, onclick: () => close(true) }, label)),
  ]);
  return answer === true;
}
