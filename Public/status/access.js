// The access card: addresses of clients, made and revoked here, and the browsers that are signed in.

import { operator } from "../shared/api.js";
import { askDangerous } from "../shared/dialog.js";
import { button, column, fill, form, h, joined, note, onFirstClick, refill } from "../shared/dom.js";
import { attempt, toast } from "../shared/messages.js";
import { accessWords as said } from "./words.js";

/** The card; it asks for what it shows, and again after each change. */
export function accessCard() {
  const addresses = h("div", {});
  const made = h("div", { role: "status" });
  const browsers = h("div", {});
  const name = h("input", {
    required: true, maxlength: 40, pattern: "[A-Za-z0-9][A-Za-z0-9._\\-]*", spellcheck: "false",
    autocomplete: "off",
  });
  const addForm = form({ class: "actions" }, () => attempt(add),
    column(said.name, name),
    h("button", { type: "submit" }, said.make));

  async function add() {
    const answer = await operator.post("/access", { name: name.value });
    fill(made, h("p", {}, said.once(answer.name)), h("pre", { tabindex: "0" }, answer.url));
    name.value = "";
    await load();
  }

  async function revoke(address) {
    const label = said.revoke(address);
    if (await askDangerous(label, said.revokeMeans, label)) {
      await operator.remove(`/access/${encodeURIComponent(address)}`);
      fill(made);
      toast(said.revoked(address));
    }
    await load();
  }

  async function signOut(id) {
    await operator.remove(`/sessions/${encodeURIComponent(id)}`);
    toast(said.signedOut);
    await load();
  }

  async function load() {
    const known = (await operator.get("/access")).items;
    const open = (await operator.get("/sessions")).items;
    const addressRows = known.map((one) => addressRow(one, () => attempt(() => revoke(one.name))));
    const browserRows = open.map((one) => browserRow(one, () => attempt(() => signOut(one.id))));
    refill(addresses, known.length === 0 ? note(said.noAddresses) : h("ul", { class: "plain" }, addressRows));
    refill(browsers, h("ul", { class: "plain" }, browserRows));
  }

  attempt(load);
  return h("section", { class: "card", "aria-labelledby": "access-title" },
    h("h2", { id: "access-title" }, said.title),
    h("h3", {}, said.addresses), note(said.mean), addresses, addForm, made,
    h("h3", {}, said.browsers), browsers);
}

/** @param {Access} address */
function addressRow({ name, lastUsedAt }, onclick) {
  return h("li", { "data-key": name },
    h("strong", {}, name), " ",
    h("span", { class: "quiet-text" }, said.used(lastUsedAt)), " ",
    button({ onclick }, said.revoke(name)));
}

/** @param {DashboardSession} session */
function browserRow({ id, browser, startedAt, isCurrent }, onclick) {
  return h("li", { "data-key": id },
    browser || said.unnamed, " ",
    h("span", { class: "quiet-text" }, joined(said.since(startedAt), isCurrent && said.thisOne)), " ",
    !isCurrent && button({ onclick: onFirstClick(onclick) }, said.signOut));
}
