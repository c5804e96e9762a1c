// Who may come in: addresses of clients, made and revoked, and the browsers that are signed in.

import { operator } from "./api.js";
import { ask } from "./dialog.js";
import { fill, h, toast } from "./dom.js";
import { accessWords as said } from "./words-settings.js";

/** The card; it asks for what it shows, and again after each change. */
export function accessCard() {
  const addresses = h("div", {});
  const made = h("div", { role: "status" });
  const browsers = h("div", {});
  const name = h("input", { required: true, maxlength: 40, pattern: "[A-Za-z0-9][A-Za-z0-9._\\-]*", spellcheck: "false", autocomplete: "off" });
  const form = h("form", { class: "actions", onsubmit: (event) => (event.preventDefault(), add()) },
    h("label", { class: "column" }, h("span", {}, said.name), name), h("button", { type: "submit" }, said.make));

  const attempt = (work) => work().then(load).catch((problem) => toast(problem.message));
  const add = () => attempt(async () => {
    const answer = await operator.post("/access", { name: name.value });
    fill(made, h("p", {}, said.once(answer.name)), h("pre", { tabindex: "0" }, answer.url));
    name.value = "";
  });
  const revoke = (address) => attempt(async () => {
    if (!(await ask(said.revoke(address.name), said.revokeMeans, said.revoke(address.name)))) return;
    await operator.remove(`/access/${encodeURIComponent(address.name)}`);
    fill(made);
    toast(said.revoked(address.name));
  });
  const signOut = (browser) => attempt(async () => {
    await operator.remove(`/sessions/${encodeURIComponent(browser.id)}`);
    toast(said.signedOut);
  });

  async function load() {
    const [known, open] = [(await operator.get("/access")).items, (await operator.get("/sessions")).items];
    fill(addresses, known.length === 0 ? h("p", { class: "quiet-text" }, said.noAddresses)
      : h("ul", { class: "plain" }, known.map((one) => h("li", {}, h("strong", {}, one.name), " ", h("span", { class: "quiet-text" }, said.used(one.lastUsedAt)), " ",
          h("button", { type: "button", onclick: () => revoke(one) }, said.revoke(one.name))))));
    fill(browsers, h("ul", { class: "plain" }, open.map((one) => h("li", {}, one.browser || said.unnamed, " ",
      h("span", { class: "quiet-text" }, [said.since(one.startedAt), one.isCurrent && said.thisOne].filter(Boolean).join(" · ")), " ",
      !one.isCurrent && h("button", { type: "button", onclick: () => signOut(one) }, said.signOut)))));
  }

  load().catch((problem) => toast(problem.message));
  return h("section", { class: "card", "aria-labelledby": "access-title" },
    h("h2", { id: "access-title" }, said.title), h("h3", {}, said.addresses), h("p", { class: "quiet-text" }, said.mean), addresses, form, made,
    h("h3", {}, said.browsers), browsers);
}
