// What a choice about conflicts does: it decides one, those that are alike or picked, or all that match.

import { operator, query } from "../shared/api.js";
import { alikeOnes, resultOf, selectionOf, sideOf } from "./state.js";
import { ask } from "../shared/dialog.js";
import { readable } from "../shared/diff.js";
import { h, note } from "../shared/dom.js";
import { oneLine } from "../shared/formats.js";
import { endHold, showProblem, takeBack, toast } from "../shared/messages.js";
import { conflictWords as said } from "./words.js";
import { words } from "../shared/words.js";

const partSize = 500;
// Decisions are sent when the message that offers their undo ends. If the page is gone, after this time. Of
// many, the first wait for the last.
const holdSeconds = { one: 10, many: 60 };

function settle({ id, revision }, choice, holdSeconds, item) {
  const body = { revision, choice, holdSeconds, ...(item ? { item } : {}) };
  return operator.post(`/conflicts/${encodeURIComponent(id)}/resolve`, body);
}

const shownMost = 20; // Of the conflicts whose result is shown before they are decided.

/** Asks before many are decided, with what will be written for the first of them. */
const askForAll = (choice, count, conflicts) =>
  ask(said.forAll[choice], [said.forAllAsk(count), " ", said.willBe, h("span", { class: "written" },
    conflicts.slice(0, shownMost).map((one) => h("span", {}, written(one, choice))),
    count > shownMost && note(said.moreWritten(count - shownMost)))],
  said.forAllOf(choice, count), "danger");

/** What a choice writes for one conflict. */
function written(conflict, choice) {
  const side = sideOf(conflict, choice);
  const { serverDeleted, mineDeleted } = conflict;
  const deleted = serverDeleted ? said.outcomeDeletedThere : mineDeleted ? said.outcomeDeletedHere : null;
  const fields = resultOf(conflict, side).map(
    ([name, value]) => `${name}: ${readable(value) ?? words.absent}`);
  const text = side === null ? said.noTime
    : deleted ? deleted[side] ?? said.staysConflict
    : [...fields, side === "both" && said.outcome.both].filter(Boolean).join(" · ");
  return [h("strong", { dir: "auto" }, oneLine(conflict.title ?? conflict.itemId)), " ", text];
}

/** Decides one conflict. Gives whether it is decided; `changed()` is called after an undo. */
export async function decideOne(conflict, choice, item, changed) {
  await endHold();
  try {
    await settle(conflict, choice, holdSeconds.one, item);
    toast(said.resolved, takeBack([conflict.id], changed, true));
    return true;
  } catch (problem) {
    if (problem.code === "operation-changed") toast(said.changedMeanwhile);
    else showProblem(problem);
    return false;
  }
}

/** All conflicts that are alike, page by page; `onProgress` is told how many were found. */
export async function allAlike(conflict, onProgress) {
  const found = [];
  /** @type {string | null} */
  let after = null;
  do {
    const page = await operator.get(`/conflicts${query({ limit: partSize, after })}`);
    found.push(...alikeOnes({ list: page.items }, conflict));
    onProgress(found.length);
    after = page.next;
  } while (after);
  return found;
}

/** Decides conflicts one by one, after a question. Gives whether it was done. */
export async function decideEach(conflicts, choice, onProgress, changed) {
  if (!(await askForAll(choice, conflicts.length, conflicts))) return false;
  await endHold();
  const done = [];
  let refused = 0;
  /** @type {Error | null} */
  let unanswered = null;
  for (const conflict of conflicts) {
    try {
      await settle(conflict, choice, holdSeconds.many);
      done.push(conflict.id);
    } catch (problem) {
      if (problem.status === 0) {
        unanswered = problem; // The rest would fail as well.
        break;
      }
      refused++; // It changed meanwhile, and stays here to be decided on its own.
    }
    onProgress(done.length + refused);
  }
  if (unanswered && done.length === 0) throw unanswered;
  report(refused, done, changed, unanswered?.message);
  return true;
}

/**
 * Decides all conflicts that match part by part, after a question with their count. Gives whether it was
 * done. An undo takes back what the parts name: another person may decide conflicts meanwhile.
 * @param {ConflictFilter} asked
 */
export async function decideMatching(asked, choice, changed) {
  const selection = selectionOf(asked);
  const given = Object.fromEntries(Object.entries(selection).filter(([, value]) => value));
  /** @type {OperationFilter} */
  const filter = { ...given, state: ["conflict"] };
  const { matched } = await operator.post("/conflicts/resolve", { filter, choice, dryRun: true });
  const { items } = await operator.get(`/conflicts${query({ ...selection, limit: shownMost })}`);
  if (!(await askForAll(choice, matched, items))) return false;
  await endHold();
  const done = [];
  let refused = 0;
  /** @type {Error | null} */
  let unanswered = null;
  /** @type {string | null} */
  let after = null;
  try {
    do {
      const part = await operator.post(
        "/conflicts/resolve", { filter, choice, holdSeconds: holdSeconds.many, limit: partSize, after });
      done.push(...part.operations);
      refused += part.refused;
      after = part.next;
    } while (after);
  } catch (problem) {
    if (done.length === 0) throw problem;
    unanswered = problem;
  }
  report(refused, done, changed, unanswered?.message);
  return true;
}

/** Says how many were decided, and `problem`, the reason why the work ended early; offers the undo. */
function report(refused, done, changed, problem = "") {
  const text = [said.decided(done.length, refused), problem].filter(Boolean).join(" ");
  toast(text, done.length ? takeBack(done, changed, true) : undefined);
}
