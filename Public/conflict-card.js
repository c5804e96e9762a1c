// One conflict: what it was before, mine, the server's, and the result, field by field.

import { parseJSON } from "./api.js";
import { marked, readable } from "./diff.js";
import { h, toast } from "./dom.js";
import { words } from "./words.js";

const linesMost = 14;

function headline(conflict) {
  const title = conflict.title ?? conflict.itemId;
  if (conflict.serverDeleted) return words.conflictDeletedThere(title);
  if (conflict.mineDeleted) return words.conflictDeletedHere(title);
  return words.conflictOf(title);
}

/** What can be chosen: a deletion has no fields to merge and nothing to keep twice. */
export function choicesFor(conflict) {
  const deleted = conflict.serverDeleted || conflict.mineDeleted;
  return ["mine", "server", !deleted && "edited", !conflict.mineDeleted && "both"].filter(Boolean);
}

/**
 * The card; `decide(conflict, choice, item)` hears the choice. `typed` has what a person typed into an earlier card of
 * the conflict, by field. Gives `{conflict, element, choose, typed}`.
 */
export function conflictCard(conflict, decide, typed = new Map()) {
  const results = new Map();
  const rows = conflict.fields.map((field) => fieldRow(field, results, conflict, typed.get(field.name)));
  const choices = choicesFor(conflict);
  const same = Object.keys(conflict.mine ?? {}).length - conflict.fields.length;
  const labels = { mine: words.keepMine, server: words.keepServer, edited: words.useResult, both: words.keepBoth };
  const keys = { mine: "m", server: "s", edited: "a", both: "b" };

  function choose(choice) {
    if (!choices.includes(choice)) return false;
    if (choice !== "edited") return void decide(conflict, choice);
    const item = edited(results);
    if (item) decide(conflict, "edited", item);
  }

  const element = h("article", { class: "card conflict", "aria-labelledby": "conflict-title" },
    h("h1", { id: "conflict-title" }, headline(conflict)),
    h("p", { class: "quiet-text" }, [conflict.table, conflict.reason].filter(Boolean).join(" · ")),
    rows.length > 0 && h("div", { class: "scroll", tabindex: "0", role: "region", "aria-labelledby": "conflict-title" },
      h("table", { class: "sides" },
        h("thead", {}, h("tr", {}, [words.field, words.base, words.mine, words.server, words.result].map((name) => h("th", { scope: "col" }, name)))),
        h("tbody", {}, rows))),
    choices.includes("edited") && same > 0 && h("p", { class: "quiet-text" }, words.sameFields(same)),
    h("div", { class: "actions" },
      choices.map((choice) =>
        h("button", { type: "button", class: choice === "edited" ? "primary" : null, "aria-keyshortcuts": keys[choice], title: words.byKey(keys[choice]), onclick: () => choose(choice) }, labels[choice])),
      h("a", { class: "button", href: "#/todos" }, words.notNow)));
  const typedNow = () => new Map([...results].filter(([, one]) => one.isTyped()).map(([name, { input }]) => [name, input.value]));
  return { conflict, element, choose, typed: typedNow };
}

/** The result of every field, or null when one cannot be read. */
function edited(results) {
  const item = {};
  for (const [name, { input, isText, isAbsent }] of results) {
    if (isAbsent()) {
      item[name] = null;
      continue;
    }
    if (isText) {
      item[name] = input.value;
      continue;
    }
    try {
      item[name] = parseJSON(input.value);
    } catch {
      input.focus();
      toast(words.invalidResult(name));
      return null;
    }
  }
  return item;
}

/** Scrolls a long value to its first change. */
function showChange(value) {
  const mark = value.querySelector?.("mark");
  if (mark) value.scrollTop = mark.offsetTop - value.offsetTop - value.clientHeight / 3;
}

function fieldRow(field, results, conflict, typed) {
  // Where both sides changed a field the person's own words are the start, so that none is lost.
  const proposed = conflict.proposed?.[field.name];
  const start = field.overlaps || proposed === undefined ? field.mine : proposed;
  const isText = [field.base, field.mine, field.server].every((value) => value === undefined || value === null || typeof value === "string");
  let absent = false; // the value is null, and not an empty text
  let isTyped = false;
  const result = h("textarea", { "aria-label": `${words.result}: ${field.name}`, oninput: () => ((absent = false), (isTyped = true), fit()) });
  const fit = () => (result.rows = Math.min(linesMost, Math.max(2, result.value.split("\n").length, Math.ceil(result.value.length / 28))));
  const set = (value) => {
    result.value = readable(value) ?? "";
    absent = value === null || value === undefined;
    fit();
  };
  set(start);
  if (typed !== undefined) {
    result.value = typed;
    [absent, isTyped] = [false, true];
    fit();
  }
  results.set(field.name, { input: result, isText, isAbsent: () => absent, isTyped: () => isTyped });
  const side = (value, other, gone, label) => {
    const text = readable(value);
    const shown = gone ? h("em", {}, words.deletedSide)
      : text === null || value === null ? h("em", {}, words.absent)
      : h("div", { class: "value", tabindex: text.length > 300 ? "0" : null }, marked(text, other === null ? "" : readable(other)));
    if (text?.length > 300) requestAnimationFrame(() => showChange(shown));
    return h("td", {}, shown,
      label && !gone && h("button", { type: "button", class: "small", "aria-label": label, onclick: () => set(value) }, words.useThis));
  };
  return h("tr", { class: field.overlaps ? "overlaps" : "" },
    h("th", { scope: "row" }, field.name, h("span", { class: "quiet-text" }, field.overlaps ? words.bothChanged : words.oneChanged)),
    side(field.base, undefined, false, null),
    side(field.mine, field.base, conflict.mineDeleted, words.useMine(field.name)),
    side(field.server, field.base, conflict.serverDeleted, words.useServer(field.name)),
    h("td", {}, result));
}
