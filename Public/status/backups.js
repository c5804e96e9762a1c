// The card of the backups in the status view: take one, and try whether one can be restored.

import { operator } from "../shared/api.js";
import { button, h, note, onFirstClick, refill } from "../shared/dom.js";
import { distance, number, timeAndDistance } from "../shared/formats.js";
import { attempt, toast } from "../shared/messages.js";
import { backupWords as said } from "./words.js";

const shownMost = 5;

export function backupsCard() {
  const plan = h("div", {});
  const list = h("div", {});

  async function load() {
    const { items, folder, everySeconds, keep, nextAt, failure } = await operator.get("/backups");
    refill(plan,
      note(said.plan(everySeconds, keep, nextAt && distance(nextAt)), " ", h("code", {}, folder)),
      failure && h("p", { class: "notice warning" }, failure));
    refill(list, items.length === 0 ? note(said.none) : [
      h("ul", { class: "plain" }, items.slice(0, shownMost).map(row)),
      items.length > shownMost && note(said.more(items.length - shownMost)),
      note(said.restoreHow),
    ]);
  }

  const row = ({ at, path }) => {
    const rehearse = () => attempt(async () => {
      const address = /** @type {any} */ (`/backups/${encodeURIComponent(at)}/rehearse`);
      const { stores } = await operator.post(address);
      toast(said.rehearsed(contents(stores)));
    });
    return h("li", { "data-key": at, title: path },
      timeAndDistance(at), " ",
      button({ class: "small", onclick: onFirstClick(rehearse) }, said.rehearse));
  };

  const make = () => attempt(async () => {
    const { stores } = await operator.post("/backups");
    toast(said.made(contents(stores)));
    await load();
  });

  attempt(load);
  return h("section", { class: "card", "aria-labelledby": "backups-title" },
    h("h2", { id: "backups-title" }, said.title), plan, list,
    h("div", { class: "actions" }, button({ onclick: onFirstClick(make) }, said.make)));
}

/** What the copies of the stores hold together. */
function contents(stores) {
  const sum = (name) => number(stores.reduce((total, store) => total + store[name], 0));
  return said.contents(number(stores.length), sum("items"), sum("openOperations"));
}
