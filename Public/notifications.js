// The card on who is told what happens, with a test message.

import { operator } from "./api.js";
import { coalesce } from "./coalesce.js";
import { button, facts, h, note, refill } from "./dom.js";
import { timeAndDistance } from "./formats.js";
import { attempt, toast } from "./messages.js";
import { notificationWords as said } from "./words-settings.js";

const pace = { wait: 150, rest: 10_000 }; // Milliseconds.

/** The card; `load()` asks for what it shows, and `refresh()` does so after a while. */
export function notificationCard() {
  const content = h("div", {});

  async function load() {
    draw(await operator.get("/notify"));
  }

  async function sendTest() {
    toast((await operator.post("/notify/test")).result);
    await load();
  }

  /** @param {NotificationState} state */
  function draw({ target, events, untold, last, nextTryAt }) {
    if (!target) return refill(content, note(said.noTarget));
    refill(content,
      facts([
        [said.target, target],
        [said.events, events.map((one) => said.names[one]).join(", ")],
        [said.last, last ? `${last.result} ${timeAndDistance(last.at)}` : said.none],
        ...(untold ? [[said.untold, said.waiting(untold, nextTryAt)]] : []),
      ]),
      button({ onclick: () => attempt(sendTest) }, said.test));
  }

  const element = h("section", { class: "card", "aria-labelledby": "notify-title" },
    h("h2", { id: "notify-title" }, said.title), content);
  return { element, load, refresh: coalesce(() => attempt(load), pace.wait, pace.rest) };
}
