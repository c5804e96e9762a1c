// Conflicts: one after the other, with what remains, one choice for all that are alike, and undo.

import { operator, query } from "./api.js";
import { choicesFor, conflictCard } from "./conflict-card.js";
import { ask } from "./dialog.js";
import { coalesce, fill, h, toast } from "./dom.js";
import { takeBack } from "./undo.js";
import { views, words } from "./words.js";

const pageSize = 100;
const idsPage = 500;

/** Conflicts that one choice can decide: the same table, the same fields, the same kind of clash. */
const alike = (one) => JSON.stringify([one.table, one.serverDeleted, one.mineDeleted, one.fields.filter((field) => field.overlaps).map((field) => field.name)]);

export function conflictsView(main, asked) {
  let list = [];
  let total = 0;
  let wanted = asked.rest[0] ?? null;
  let index = 0;
  let card = null; // the one on screen, with the person's picks; none while a decision is on its way
  let deciding = null; // the one whose decision is on its way
  const seen = new Set(); // those that were on screen
  const page = h("section", { class: "page medium" });
  const place = h("span", { class: "position count" });
  fill(main, page);

  async function load() {
    const answer = await operator.get(`/conflicts?limit=${pageSize}`);
    list = answer.items;
    total = answer.total;
    if (wanted && !list.some((one) => one.id === wanted)) await findWanted();
    const found = list.findIndex((one) => one.id === wanted);
    // What was decided leaves the list, and the one after it moves up to its place.
    index = found >= 0 ? found : Math.min(index, Math.max(0, list.length - 1));
    const next = list[index];
    if (!next) {
      card = null;
      return fill(page, h("h1", {}, views.conflicts), h("p", { class: "empty" }, words.noConflicts));
    }
    const isSame = card?.conflict.id === next.id;
    if (isSame && card.conflict.revision === next.revision) return drawPlace();
    wanted = next.id;
    draw(next);
    if (isSame) toast(words.changedMeanwhile);
  }

  /** A shared address may name one that is further behind, or that somebody has decided already. */
  async function findWanted() {
    const id = wanted;
    try {
      list = [...list, await operator.get(`/conflicts/${encodeURIComponent(id)}`)];
    } catch (problem) {
      if (problem.status !== 404) throw problem;
      if (!seen.has(id)) toast(words.decidedAlready);
      if (wanted === id) wanted = null;
    }
  }

  const drawPlace = () => fill(place, words.position(index + 1, total));

  // Drawn at once: the next key is about what the person sees.
  function step(by) {
    if (list.length < 2) return false;
    index = (index + by + list.length) % list.length;
    wanted = list[index].id;
    draw(list[index]);
    location.hash = `#/conflicts/${encodeURIComponent(wanted)}`;
  }

  function draw(conflict) {
    const same = list.filter((one) => alike(one) === alike(conflict));
    drawPlace();
    // What a person typed stays when the server's side has changed.
    const typed = (card ?? deciding)?.conflict.id === conflict.id ? (card ?? deciding).typed() : new Map();
    card = conflictCard(conflict, decide, typed);
    deciding = null;
    seen.add(conflict.id);
    fill(page,
      h("div", { class: "bar" }, place,
        list.length > 1 && h("span", { class: "actions" },
          h("button", { type: "button", onclick: () => step(-1) }, words.previous),
          h("button", { type: "button", onclick: () => step(1) }, words.next))),
      card.element,
      same.length > 1 && h("section", { class: "card alike", "aria-labelledby": "alike-title" },
        h("h2", { id: "alike-title" }, words.alike(same.length)),
        h("p", { class: "quiet-text" }, words.alikeMeans),
        h("div", { class: "actions" },
          choicesFor(conflict).filter((choice) => choice !== "edited").map((choice) =>
            h("button", { type: "button", onclick: () => decideAll(same, choice) }, words.forAll[choice])))),
      total > same.length && total > 1 && wholeTable(conflict));
  }

  /** One choice for every conflict of the table, however many and whatever they clash about. */
  function wholeTable({ table }) {
    return h("details", { class: "card alike" }, h("summary", {}, words.wholeTable(table)),
      h("p", { class: "quiet-text" }, words.wholeTableMeans),
      h("div", { class: "actions" }, ["merged", "mine", "server", "both"].map((choice) =>
        h("button", { type: "button", onclick: () => decideTable(table, choice) }, words.forAll[choice]))));
  }

  async function decideTable(table, choice) {
    const filter = { table, state: ["conflict"] };
    try {
      const { matched } = await operator.post("/conflicts/resolve", { filter, choice, dryRun: true });
      if (!(await ask(words.forAll[choice], words.forAllAsk(matched), words.forAll[choice]))) return;
      const ids = await conflictsOf(table);
      const { changed, refused } = await operator.post("/conflicts/resolve", { filter, choice });
      toast(words.decided(changed, refused), changed ? takeBack(ids, refresh) : undefined);
      card = wanted = null;
    } catch (problem) {
      toast(problem.message);
    }
    refresh();
  }

  /** The ids of all conflicts of a table, to be able to take a decision about them back. */
  async function conflictsOf(table) {
    const ids = [];
    let after = null;
    do {
      const page = await operator.get("/operations" + query({ state: "conflict", table, limit: idsPage, after }));
      ids.push(...page.items.map((one) => one.id));
      after = page.next;
    } while (after);
    return ids;
  }

  const settle = (conflict, choice, item) =>
    operator.post(`/conflicts/${encodeURIComponent(conflict.id)}/resolve`, { revision: conflict.revision, choice, ...(item ? { item } : {}) });

  async function decide(conflict, choice, item) {
    [deciding, card] = [card, null];
    try {
      await settle(conflict, choice, item);
      toast(words.resolved, takeBack([conflict.id], refresh));
      deciding = wanted = null;
    } catch (problem) {
      // It is shown again as it is now, with what the person typed.
      toast(problem.code === "operation-changed" ? words.changedMeanwhile : problem.message);
      wanted = conflict.id;
    }
    refresh();
  }

  async function decideAll(same, choice) {
    if (!(await ask(words.forAll[choice], words.forAllAsk(same.length), words.forAll[choice]))) return;
    const done = [];
    let refused = 0;
    for (const conflict of same) {
      try {
        await settle(conflict, choice);
        done.push(conflict.id);
      } catch {
        refused++; // It changed meanwhile, and stays here to be decided on its own.
      }
      fill(place, words.deciding(done.length + refused, same.length));
    }
    toast(words.decided(done.length, refused), done.length ? takeBack(done, refresh) : undefined);
    card = null;
    wanted = null;
    refresh();
  }

  const choose = (choice) => () => (card ? card.choose(choice) : false);
  const refresh = coalesce(() => load().catch((problem) => toast(problem.message)));
  refresh();
  return {
    refresh,
    keys: { m: choose("mine"), s: choose("server"), b: choose("both"), a: choose("edited"), n: () => step(1), p: () => step(-1) },
    navigate(next) {
      wanted = next.rest[0] ?? null;
      refresh();
    },
    hear(kind) {
      if (kind === "conflict" || kind === "operation") refresh();
    },
  };
}
