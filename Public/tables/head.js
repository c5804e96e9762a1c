// What is around the rows of a table: the button that pulls it, warnings above the rows; below them its
// numbers and policies, and how to remove it from this device.

import { operator } from "../shared/api.js";
import { copyButton, shell } from "../shared/clipboard.js";
import { button, column, fill, find, h, joined, note, options, refill } from "../shared/dom.js";
import { distance } from "../shared/formats.js";
import { attempt, showProblem, toast } from "../shared/messages.js";
import { progress } from "../shared/runs.js";
import { isOData } from "./state.js";
import { policyWords } from "../status/words.js";
import { words } from "../shared/words.js";

/**
 * Draws what is around the rows.
 * @param {{ pull: HTMLElement, notices: HTMLElement, about: HTMLElement }} places
 * @param {TableStatus} table
 * @param {FollowedRun | null} run
 * @param {{ pull(): void, purge(): void, changed(): void }} actions
 */
export function drawHead({ pull: place, notices, about }, table, run, { pull, purge, changed }) {
  refill(place, button({ onclick: pull }, run ? pullLabel(run) : words.pull));
  const key = `${table.name} ${table.setAside}`;
  const before = find(notices, "details");
  refill(notices,
    table.warning && h("p", { class: "notice warning" }, table.warning,
      table.pause !== "nothing" && button({ onclick: () => attempt(resume) }, words.resume)),
    table.setAside > 0 && (before?.dataset.key === key ? before : setAsideRows(table, key)));
  async function resume() {
    await operator.patch(`/tables/${encodeURIComponent(table.name)}`, { pause: "nothing" });
    changed();
  }
  refill(about,
    note(joined(...factsOf(table))),
    tablePolicies(table, changed),
    h("div", { class: "actions" }, button({ onclick: purge }, words.purge)));
}

/** @param {TableStatus} table */
function factsOf(table) {
  return [
    words.rowCount(table.items),
    words.pendingCount(table.pending),
    table.part && words.part(table.part),
    table.isComplete ? words.complete : words.partial,
    table.drift,
    table.lastPull ? words.pulled(distance(table.lastPull)) : words.neverPulled,
    words.idKind[table.idKind] ?? table.idKind,
    table.isPublic && words.isPublic,
    ...table.indexes.map(words.index),
  ];
}

/** @param {FollowedRun} run */
const pullLabel = (run) => [
  h("span", { class: "spinner", "aria-hidden": "true" }),
  run.id ? progress(run) : words.syncing,
  h("span", { class: "stop" }, words.cancelSync),
];

/** The rows that cannot be taken, read when a person opens the list. */
function setAsideRows({ name, setAside }, key) {
  const list = h("ul", { class: "plain" });
  const load = async () => {
    if (!details.open || list.firstChild) return;
    const { items } = await operator.get(`/tables/${encodeURIComponent(name)}/set-aside`);
    fill(list, items.map((row) => h("li", {},
      h("strong", {}, row.id ?? words.noID), " ", row.reason,
      h("pre", { class: "scroll", tabindex: "0" }, row.text))));
  };
  const details = h("details", { "data-key": key, ontoggle: () => attempt(load) },
    h("summary", {}, words.setAside(setAside)), list);
  return details;
}

/**
 * The policies of a table, and what of it is paused. A choice is saved at once.
 * @param {TableStatus} table
 */
function tablePolicies(table, changed) {
  const choice = ([name, { label, choices }]) => {
    const onchange = (event) => save(name, event.currentTarget);
    return column(label, h("select", { value: table[name], onchange }, options(Object.entries(choices))));
  };
  const saveIndexes = ({ currentTarget }) =>
    save("indexes", currentTarget, indexesIn(currentTarget.value), table.indexes.join("; "));

  async function save(name, input, value = input.value, before = table[name]) {
    try {
      const saved = await operator.patch(`/tables/${encodeURIComponent(table.name)}`, { [name]: value });
      table[name] = saved[name];
      toast(words.saved);
    } catch (problem) {
      input.value = before;
      showProblem(problem);
    }
    changed();
  }

  return h("details", { class: "policies" },
    h("summary", {}, words.policies),
    h("div", { class: "columns" }, Object.entries(policyWords).map(choice),
      column(words.indexes,
        h("input", { value: table.indexes.join("; "), placeholder: "price desc", onchange: saveIndexes }))));
}

/** The indexes that a text names, each as an order by columns, with semicolons between. */
const indexesIn = (text) => text.split(";").map((index) => index.trim()).filter(Boolean);

const version = "-H 'ZUMO-API-VERSION: 2.0.0'";
const json = "-H 'Content-Type: application/json'";
const pageRows = "50";

/** Lines of curl for a table and the filter on screen. */
export function apiPreview(table, { filter, orderby }) {
  const address = `${location.origin}/tables/${encodeURIComponent(table)}`;
  const $filter = isOData(filter) && filter; // A client has no search for a text.
  const list = `${address}?${optionsOf({ $filter, $orderby: orderby, $top: pageRows })}`;
  const one = shell(`${address}/ID`);
  const lines = [
    [words.curlList, `curl -s ${version} ${shell(list)}`],
    [words.curlInsert, `curl -s ${version} ${json} -d ${shell(words.curlItem)} ${shell(address)}`],
    [words.curlUpdate, `curl -s -X PATCH ${version} ${json} -d ${shell(words.curlChange)} ${one}`],
    [words.curlDelete, `curl -s -X DELETE ${version} ${one}`],
  ];
  return h("details", { class: "preview" },
    h("summary", {}, words.apiPreview),
    lines.map(([name, text]) => line(name, text)));
}

function optionsOf(options) {
  const given = Object.entries(options).filter(([, value]) => value);
  return given.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join("&");
}

function line(name, text) {
  return h("div", { class: "curl" }, h("span", {}, name), h("pre", { tabindex: "0" }, text),
    copyButton({ class: "small", "aria-label": `${words.copy}: ${name}` }, words.copy, () => text));
}
