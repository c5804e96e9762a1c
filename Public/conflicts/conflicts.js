// The conflicts: one after the other, one choice for all that are alike, and undo.

import { operator, query } from "../shared/api.js";
import { coalesce } from "../shared/coalesce.js";
import { conflictCard } from "./card.js";
import { allAlike, decideEach, decideMatching, decideOne } from "./actions.js";
import { conflictsPage } from "./rendering.js";
import {
  addressOf, alikeOnes, begin, filterOf, isFiltered, selectionOf, stepped, withConflicts, withPicks,
} from "./state.js";
import { find } from "../shared/dom.js";
import { draft, draftOf } from "../shared/drafts.js";
import { attempt, toast } from "../shared/messages.js";
import { conflictWords as said } from "./words.js";

const pageSize = 100;

/** @type {ViewMaker} */
export function conflictsView(main, asked) {
  let state = begin(asked);
  /** @type {ConflictCard | null} */
  let card = null; // The card on screen; none while its decision is on its way.
  let shown = ""; // The id of the conflict that was drawn last.
  let left = null; // What was typed for the conflict of the address, which is decided already.
  let hasDecided = false; // A decision was made here: after the last one the todos are shown.
  let hasLeft = false; // Another view is on screen.
  let isDecidingMany = false; // Meanwhile the list is not read again with each decision.
  const seen = new Set(); // The ids of those that were on screen.
  const deciding = new Set(); // The ids of those whose decision is on its way.
  const page = conflictsPage(main, { step, go, pick, decideAlike, decidePicked, decideMatching: decideAll });

  async function load() {
    const { filter } = state;
    const { items, total } = await operator.get(
      `/conflicts${query({ ...selectionOf(filter), limit: pageSize })}`);
    const list = state.wanted ? await withWanted(items, state.wanted) : items;
    if (hasLeft || filter !== state.filter) return; // Another filter was chosen meanwhile.
    state = withConflicts(state, list, total);
    const next = list[state.index];
    if (!next) {
      card = null;
      shown = "";
      page.drawNone(state, left, giveUpLeft);
      if (!hasDecided || left) return;
      if (isFiltered(state)) go({ table: "", q: "", column: "", actor: "", age: "" });
      else location.hash = "#/todos";
      return;
    }
    const isSame = card?.conflict.id === next.id;
    if (isSame && card?.conflict.revision === next.revision) {
      page.drawList(state);
      return;
    }
    draw();
    if (isSame) toast(said.changedMeanwhile);
  }

  /** Adds the conflict that the address asks for, if the list ends before it. It may be decided already. */
  async function withWanted(list, id) {
    if (list.some((one) => one.id === id)) return list;
    try {
      return [...list, await operator.get(`/conflicts/${encodeURIComponent(id)}`)];
    } catch (problem) {
      if (problem.status !== 404) throw problem;
      left = draft.read(draftOf.conflict(id));
      if (left) card = null; // It is drawn beside the next card.
      if (left || !seen.has(id)) toast(said.decidedAlready);
      return list;
    }
  }

  function giveUpLeft() {
    if (left) draft.forget(draftOf.conflict(left.id));
    left = null;
    card = null;
    refresh();
  }

  /** Shows another conflict at once, because the next key press is about what the person sees. */
  function step(by) {
    if (state.list.length < 2) return false;
    state = stepped(state, by);
    draw();
    location.hash = addressOf(state.wanted, state.filter);
  }

  /** Chooses other conflicts. Each choice is a step that Back undoes; a letter of a search is none. */
  function go(change) {
    const filter = { ...state.filter, ...change };
    const address = addressOf(null, filter);
    if ("q" in change) history.replaceState(null, "", address);
    else history.pushState(null, "", address);
    show(filter, null);
  }

  function show(filter, wanted) {
    const isSame = JSON.stringify(filter) === JSON.stringify(state.filter);
    state = { ...state, filter, wanted };
    if (!isSame) state = { ...state, index: 0, picked: new Set() };
    refresh();
  }

  function pick(ids, isPicked) {
    state = withPicks(state, ids, isPicked);
    page.drawList(state);
  }

  /** Draws the conflict on screen. What a person typed stays when the server's side has changed. */
  function draw() {
    const conflict = state.list[state.index];
    const isSame = shown === conflict.id;
    const field = isSame ? document.activeElement?.id.replace(/^result-/, "") : null;
    // After a key there may be no focus. The heading gets it, so that what is next is read out.
    const hadFocus = find(main, ".conflict")?.contains(document.activeElement)
      || (shown !== "" && document.activeElement === document.body);
    card = conflictCard(conflict, decide);
    shown = conflict.id;
    seen.add(conflict.id);
    page.draw(state, card.element, left, giveUpLeft);
    if (!isSame) scrollTo(0, 0);
    if (!hadFocus) return;
    if (field) card.focusField(field);
    else find(card.element, "h1")?.focus();
  }

  async function decide(conflict, choice, item) {
    if (deciding.has(conflict.id)) return; // A double click.
    deciding.add(conflict.id);
    card = null;
    const name = draftOf.conflict(conflict.id);
    const typed = draft.read(name);
    const isDecided = await decideOne(conflict, choice, item, async (isUndone) => {
      if (isUndone && typed) await bringBack(conflict, typed);
      undone(isUndone);
    });
    deciding.delete(conflict.id);
    if (isDecided) {
      if (JSON.stringify(draft.read(name)) === JSON.stringify(typed)) draft.forget(name);
      else left = draft.read(name); // This was typed while the decision was on its way.
      hasDecided = true;
    }
    state = { ...state, wanted: isDecided ? null : conflict.id };
    refresh();
  }

  /** Brings back what was typed for a conflict whose decision was undone; it has another id then. */
  async function bringBack(conflict, typed) {
    const alike = await attempt(() => allAlike(conflict, () => {}));
    const { id } = alike?.find((one) => one.itemId === conflict.itemId) ?? conflict;
    const name = draftOf.conflict(id);
    if (draft.read(name)) return;
    draft.write(name, { ...typed, id });
    card = null; // It may be on screen already.
  }

  /** Decides all that are alike, also those beyond the list on screen: all of them are read first. */
  async function decideAlike(conflict, choice) {
    await attempt(async () => {
      const isAll = state.list.length >= state.total;
      const alike = isAll ? alikeOnes(state, conflict) : await allAlike(conflict, page.drawCounting);
      const onProgress = (done) => page.drawProgress(done, alike.length);
      isDecidingMany = true;
      if (await decideEach(alike, choice, onProgress, undone)) startAgain();
      else page.drawPlace(state);
    });
    isDecidingMany = false;
    refresh();
  }

  /** Decides those that a person picked. */
  async function decidePicked(choice) {
    const some = state.list.filter((one) => state.picked.has(one.id));
    const onProgress = (done) => page.drawProgress(done, some.length);
    isDecidingMany = true;
    if (await attempt(() => decideEach(some, choice, onProgress, undone))) startAgain();
    else page.drawPlace(state);
    isDecidingMany = false;
    refresh();
  }

  async function decideAll(filter, choice) {
    if (await attempt(() => decideMatching(filter, choice, undone))) startAgain();
    refresh();
  }

  /** Many were decided: what is next is drawn as if for the first time. */
  function startAgain() {
    card = null;
    hasDecided = true;
    state = { ...state, wanted: null };
  }

  /** After an undo the conflicts are open again, and are shown. After none the view on screen stays. */
  function undone(isUndone) {
    if (isUndone) hasDecided = false;
    if (!hasLeft) refresh();
    else if (isUndone) location.hash = "#/conflicts";
  }

  const choose = (choice) => () => (card ? card.choose(choice) : false);
  const refresh = coalesce(() => attempt(load));
  refresh();
  return {
    refresh,
    onLeave: () => (hasLeft = true),
    keys: {
      m: choose("mine"),
      s: choose("server"),
      b: choose("both"),
      a: choose("edited"),
      n: () => step(1),
      p: () => step(-1),
      j: () => step(1),
      k: () => step(-1),
    },
    navigate(next) {
      if (left) card = null; // Its text is on screen, and is no longer what the address asks for.
      left = null;
      show(filterOf(next), next.rest[0] ?? null);
    },
    onEvent(kind) {
      if (!isDecidingMany && (kind === "conflict" || kind === "operation")) refresh();
    },
  };
}
