// How things stand: the backend with its reason, offline until when, the account of every write,
// who is refused, whose rows are shown, and what the operator sets.

import { accessCard } from "./access.js";
import { operator } from "./api.js";
import { firstContact } from "./first-contact.js";
import { coalesce, fill, h, toast } from "./dom.js";
import { distance, number, timeAndDistance } from "./formats.js";
import { settingsForm } from "./settings.js";
import { words } from "./words.js";

const ledgerNames = ["accepted", "applied", "collapsed", "discarded", "queued", "waiting", "sending", "unknown", "conflict", "quarantined"];

export function statusView(main, asked, header) {
  let settings = null;
  const backend = h("section", { class: "card", "aria-labelledby": "backend-title" });
  const contact = h("div", {});
  const mode = h("section", { class: "card", "aria-labelledby": "mode-title" });
  const set = h("section", { class: "card", "aria-labelledby": "settings-title" });
  const ledger = h("section", { class: "card", "aria-labelledby": "ledger-title" });
  const identities = h("section", { class: "card", "aria-labelledby": "identities-title" });
  const rejected = h("section", { class: "card", "aria-labelledby": "rejected-title" });
  const cards = h("div", { class: "cards", hidden: true }, backend, mode, ledger, set, identities, accessCard(), rejected);
  fill(main, h("section", { class: "page wide" }, h("h1", {}, words.statusTitle), contact,
    cards));

  async function load() {
    // Everything first, then the page: what came later would move what somebody reads.
    const [rejections, found] = await Promise.all([operator.get("/rejections"), settings ?? operator.get("/settings"), header.load()]);
    draw(header.status(), rejections.items);
    cards.hidden = false;
    if (settings) return; // Somebody may be changing them.
    settings = found;
    fill(set, h("h2", { id: "settings-title" }, words.settingsTitle), settingsForm(settings));
  }

  function draw(status, rejections) {
    const facts = (pairs) => h("dl", { class: "facts" }, pairs.filter(([, value]) => value).map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]));
    const { backend: there } = status;
    const rebinding = backend.querySelector("details")?.open || status.warnings.some((warning) => warning.includes("--rebind"));
    fill(contact, firstContact(status));
    fill(backend, h("h2", { id: "backend-title" }, words.backendTitle),
      h("p", {}, h("span", { class: `pill ${there.state}` }, words.backendState[there.state] ?? there.state)),
      facts([
        [words.address, there.url],
        [words.reason, there.reason],
        [words.since, timeAndDistance(there.since)],
        [words.nextTryLabel, timeAndDistance(there.nextTry)],
        [words.lastSyncLabel, status.lastSync ? distance(status.lastSync) : words.neverSynced],
        [words.nextSyncLabel, status.nextSync && distance(status.nextSync)],
        [words.version, `Understudy ${status.version}, ${words.runningSince(distance(status.startedAt))}`],
      ]),
      status.warnings.map((warning) => h("p", { class: "notice warning" }, warning)),
      h("details", { open: rebinding }, h("summary", {}, words.otherAddress), h("p", {}, words.otherAddressHow), h("pre", { tabindex: "0" }, words.otherAddressCommand),
        h("p", {}, words.rebindHow), h("pre", { tabindex: "0" }, `${words.otherAddressCommand} --rebind`)));
    if (!mode.contains(document.activeElement)) fill(mode, offlineSwitch(status));
    fill(ledger, h("h2", { id: "ledger-title" }, words.ledgerTitle),
      h("p", { class: status.ledger.balances ? "good" : "attention" }, status.ledger.balances ? words.balances : words.doesNotBalance),
      h("dl", { class: "facts numbers" }, ledgerNames.map((name) => [h("dt", {}, words.ledgerNames[name]), h("dd", {}, number(status.ledger[name]))])));
    fill(identities, h("h2", { id: "identities-title" }, words.identitiesTitle), h("p", { class: "quiet-text" }, words.identitiesMean),
      h("ul", { class: "plain" }, status.identities.map((name) => h("li", {},
        name === status.identity ? [h("code", {}, name), ` ${words.shownHere}`] : h("a", { href: `?identity=${encodeURIComponent(name)}#/status` }, h("code", {}, name))))));
    fill(rejected, h("h2", { id: "rejected-title" }, words.rejectedTitle),
      rejections.length === 0 ? h("p", { class: "quiet-text" }, words.noneRejected)
        : h("ul", { class: "plain" }, rejections.map((one) => h("li", {}, h("strong", {}, `${number(one.count)} × ${one.status}`), ` ${one.sentence} `,
            h("span", { class: "quiet-text" }, [one.lastDetail, distance(one.lastAt)].filter(Boolean).join(" · "))))));
  }

  function offlineSwitch(status) {
    const isOffline = status.mode.mode === "offline";
    const length = h("select", {}, words.offlineLengths.map(([seconds, label]) => h("option", { value: seconds }, label)));
    const go = (body) => operator.post("/mode", body).then(() => toast(body.mode === "offline" ? words.nowOffline : words.nowOnline), (problem) => toast(problem.message)).then(refresh);
    return [
      h("h2", { id: "mode-title" }, words.modeTitle),
      h("p", {}, isOffline ? (status.mode.until ? words.offlineUntil(status.mode.until) : words.offlineByChoice) : words.modeOnline),
      isOffline
        ? h("button", { type: "button", class: "primary", onclick: () => (document.activeElement.blur(), go({ mode: "online" })) }, words.goOnline)
        : h("div", { class: "actions" }, h("label", {}, `${words.offlineFor} `, length),
            h("button", { type: "button", onclick: () => (document.activeElement.blur(), go({ mode: "offline", ...(length.value ? { forSeconds: Number(length.value) } : {}) })) }, words.goOffline)),
    ];
  }

  const refresh = coalesce(() => load().catch((problem) => toast(problem.message)), 150);
  refresh();
  return { refresh, keys: { p: header.toggleMode }, hear: (kind) => kind !== "item" && refresh() };
}
