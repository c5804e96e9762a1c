// The status: the backend, the mode, the ledger, refused requests, whose rows are shown, and the settings.
// Some cards are in access.js and first-contact.js.

import { accessCard } from "./access.js";
import { operator } from "../shared/api.js";
import { backupsCard } from "./backups.js";
import { coalesce } from "../shared/coalesce.js";
import { isOfflineByChoice, linkState, offlineText, stateText } from "../shared/connection-state.js";
import { modeSentence } from "../shared/connection.js";
import { ask } from "../shared/dialog.js";
import { button, column, facts, fill, h, joined, note, options, refill } from "../shared/dom.js";
import { failingTables, firstContact } from "./first-contact.js";
import { distance, number, timeAndDistance } from "../shared/formats.js";
import { attempt, showProblem, toast } from "../shared/messages.js";
import { unsavedLine, unsavedPlaces } from "../shared/unsaved.js";
import { settingWords, statusWords as said, triggersTitle, triggerWords } from "./words.js";
import { words } from "../shared/words.js";

const ledgerStates = [
  "collapsed", "discarded", "queued", "waiting", "sending", "unknown", "conflict", "quarantined",
];

/** @type {ViewMaker} */
export function statusView(main, asked, header) {
  let hasSettings = false;
  const contact = h("div", {});
  const unsaved = h("div", {});
  const backend = card("backend");
  const mode = card("mode");
  const ledger = card("ledger");
  const settings = card("settings");
  const identities = card("identities");
  const rejected = card("rejected");
  // What the backend makes longer is the end of a column, so that nothing moves as it comes and goes.
  const cards = h("div", { class: "cards", hidden: true },
    h("div", {}, backend, contact), h("div", {}, mode, ledger, settings),
    h("div", {}, identities, accessCard(), backupsCard(), rejected));
  fill(main, h("section", { class: "page wide" }, h("h1", {}, said.title), unsaved, cards));

  /** @type {Rejection[]} */
  let rejections = [];
  let rejectedCount = -1; // The number of refused requests that the list was read for.

  /** Everything is read before the page is drawn. What came later would move the text that a person reads. */
  async function show(status) {
    const isNews = status.rejectedRequests !== rejectedCount;
    const [list, found] = await Promise.all([
      isNews ? operator.get("/rejections") : null,
      hasSettings ? null : operator.get("/settings"),
    ]);
    if (list) [rejections, rejectedCount] = [list.items, status.rejectedRequests];
    draw(status, rejections);
    cards.hidden = false;
    if (!found || hasSettings) return; // A person may be changing them.
    hasSettings = true;
    fill(settings, heading("settings"), settingsForm(found));
  }

  function draw(status, rejections) {
    refill(unsaved, unsavedLine(unsavedPlaces()));
    refill(contact, firstContact(status), failingTables(status));
    refill(backend, backendCard(status), unsignedOffer(status, refresh));
    refill(mode, modeCard(status, changeMode));
    refill(ledger, ledgerCard(status));
    refill(identities, identitiesCard(status));
    refill(rejected, rejectedCard(rejections));
  }

  async function changeMode(body) {
    await attempt(async () => {
      await operator.post("/mode", body);
      await header.load();
      toast(modeSentence(body.mode, header.status()));
    });
    refresh();
  }

  const refresh = coalesce(() => attempt(header.load), 150);
  // The line at the top reads the status after each event.
  const stop = header.listen((status) => attempt(() => show(status)));
  refresh();
  return {
    refresh,
    keys: { p: header.toggleMode },
    onEvent() {},
    onLeave: stop,
  };
}

const card = (name) => h("section", { class: "card", "aria-labelledby": `${name}-title` });

const heading = (name) => h("h2", { id: `${name}-title` }, said[name]);

/** @param {Status} status */
function backendCard(status) {
  const { warnings } = status;
  const isRebinding = warnings.some((warning) => warning.includes("--rebind"));
  return [
    heading("backend"),
    h("p", {},
      h("span", { class: `pill ${linkState(status)}` }, stateText(status))),
    h("details", { open: isRebinding },
      h("summary", {}, said.otherAddress),
      h("p", {}, said.otherAddressHow), h("pre", { tabindex: "0" }, said.otherAddressCommand),
      h("p", {}, said.rebindHow), h("pre", { tabindex: "0" }, said.rebindCommand)),
    facts(backendFacts(status).map(([name, value]) => [name, value || words.absent])),
    warnings.map((warning) => h("p", { class: "notice warning" }, warning)),
  ];
}

/**
 * Offers to give what was written without a sign-in to the only user since.
 * @param {Status} status
 * @param {() => void} changed
 */
function unsignedOffer({ unsigned }, changed) {
  const identity = unsigned?.identity;
  if (!identity) return null;
  const give = (undo) => attempt(async () => {
    const { changed: count } = await operator.post("/operations/assign", { identity, undo });
    toast(said.unsigned.given(count, undo),
      undo ? undefined : { label: words.undo, run: () => give(true), isUndo: true });
    changed();
  });
  const onclick = () => attempt(async () => {
    const { matched, refused } = await operator.post("/operations/assign", { identity, dryRun: true });
    const text = said.unsigned.ask(matched - refused, refused, identity);
    if (await ask(said.unsigned.give, text, said.unsigned.give)) give(false);
  });
  return h("p", {}, button({ onclick }, said.unsigned.give));
}

/** @param {Status} status */
const backendFacts = ({ backend, lastSync, nextSync, version, startedAt }) => [
  [said.address, backend.url],
  [said.version, said.running(version, startedAt)],
  [said.lastSync, lastSync ? distance(lastSync) : words.neverSynced],
  [said.nextSync, distance(nextSync)],
  [said.since, timeAndDistance(backend.since)],
  [words.nextTryLabel, timeAndDistance(backend.nextTry)],
  [words.reason, backend.reason], // It may take several lines, so it is the last.
];

/**
 * @param {Status} status
 * @param {(body: ModeRequest) => void} change
 */
function modeCard(status, change) {
  const text = isOfflineByChoice(status) ? offlineText(status.mode) : said.modeOnline;
  return [
    heading("mode"),
    h("p", {}, text),
    isOfflineByChoice(status) ? onlineButton(change) : offlineChoice(change),
  ];
}

const onlineButton = (change) =>
  button({ class: "primary", onclick: () => change({ mode: "online" }) }, words.goOnline);

function offlineChoice(change) {
  const onclick = (event) => {
    const seconds = event.currentTarget.parentElement.querySelector("select").value;
    const limit = seconds ? { forSeconds: Number(seconds) } : {};
    change({ mode: "offline", ...limit });
  };
  return h("div", { class: "actions" },
    h("label", {}, `${said.offlineFor} `, h("select", {}, options(said.offlineLengths))),
    button({ onclick }, words.goOffline));
}

/** @param {Status} status */
function ledgerCard({ ledger }) {
  const rows = [
    [said.accepted, number(ledger.accepted)],
    [said.applied, number(ledger.applied)],
    ...ledgerStates.map((state) => [words.operationState[state], number(ledger[state])]),
  ];
  return [
    heading("ledger"),
    h("p", { class: ledger.balances ? "good" : "attention" },
      ledger.balances ? said.balances : said.doesNotBalance),
    facts(rows, "facts numbers"),
  ];
}

/** @param {Status} status */
function identitiesCard({ identity, identities }) {
  const link = (name) =>
    h("a", { href: `?identity=${encodeURIComponent(name)}#/status` }, h("code", {}, name));
  return [
    heading("identities"),
    note(said.identitiesMean),
    h("ul", { class: "plain" }, identities.map((name) =>
      h("li", {}, name === identity ? [h("code", {}, name), ` ${said.shownHere}`] : link(name)))),
  ];
}

/** @param {Rejection[]} rejections */
function rejectedCard(rejections) {
  const row = ({ count, status, sentence, lastDetail, lastAt }) => h("li", {},
    h("strong", {}, said.rejections(count, status)), ` ${sentence} `,
    h("span", { class: "quiet-text" }, joined(lastDetail, distance(lastAt))));
  return [
    heading("rejected"),
    rejections.length === 0 ? note(said.noneRejected) : h("ul", { class: "plain" }, rejections.map(row)),
  ];
}

/** @param {Settings} settings */
function settingsForm(settings) {
  /** Sends a change. If it is refused, `restore()` puts back what the form showed before. */
  async function change(body, restore) {
    try {
      Object.assign(settings, await operator.patch("/settings", body));
      toast(words.saved);
    } catch (problem) {
      restore();
      showProblem(problem);
    }
  }

  const triggers = Object.entries(triggerWords).map(([name, label]) => {
    const box = h("input", { type: "checkbox", checked: settings.triggers.some((one) => one === name) });
    box.addEventListener("change", () => {
      const others = settings.triggers.filter((one) => one !== name);
      change({ triggers: box.checked ? [...others, name] : others }, () => (box.checked = !box.checked));
    });
    return h("label", { class: "switch block" }, box, label);
  });

  const numbers = Object.entries(settingWords).map(([name, { label, min, max }]) => {
    const field = h("input", { type: "number", min, max, value: settings[name] });
    const restore = () => (field.value = settings[name]);
    field.addEventListener("change", () => change({ [name]: Number(field.value) }, restore));
    return column(label, field);
  });

  return h("div", {},
    h("fieldset", {}, h("legend", {}, triggersTitle), triggers),
    h("div", { class: "columns" }, numbers));
}
