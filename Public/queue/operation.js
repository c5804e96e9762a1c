// The card of one operation with all its attempts: what was sent, what came back, what happens next.

import { button, facts, fill, find, focusCard, h, joined, refill } from "../shared/dom.js";
import { draft, draftOf } from "../shared/drafts.js";
import { milliseconds, oneLine, time, timeAndDistance } from "../shared/formats.js";
import { pretty } from "./json-text.js";
import { isComposing } from "../shared/keys.js";
import { lastAnswer, operationCopies } from "./operation-answer.js";
import { payloadEditor } from "./operation-editor.js";
import { stateTag } from "./rows.js";
import { closedStates, titleOf } from "./state.js";
import { leftText } from "../shared/unsaved.js";
import { queueWords as said } from "./words.js";
import { words } from "../shared/words.js";

const retriedStates = ["waiting", "unknown", "quarantined"];
const editedStates = ["queued", "waiting", "quarantined", "conflict"];

/**
 * The card; `saved()` is called after an edit. Gives `{element, update(detail)}`.
 * @param {OperationDetail} first
 * @param {string | null} backendURL
 * @param {{ close(): void, act(action: "retry" | "discard"): void, saved(): void }} actions
 */
export function operationDetail(first, backendURL, { close, act, saved }) {
  let detail = first;
  const editor = h("div", {});
  const draftName = draftOf.operation(first.summary.id);
  const edit = () => fill(editor, payloadEditor(detail, { saved: closeSaved, cancel: closeEditor }));
  function editAndFocus() {
    edit();
    find(editor, "textarea")?.focus();
  }
  /** Gives up what was typed. */
  function closeEditor() {
    draft.forget(draftName);
    fill(editor);
    find(element, "[data-key=edit]")?.focus();
  }
  function closeSaved() {
    fill(editor);
    focusCard(element);
    saved();
  }
  /** Escape closes an editor in which nothing was typed, else the card: what was typed stays. */
  function onkeydown(event) {
    if (event.key !== "Escape" || event.defaultPrevented || isComposing(event)) return;
    event.preventDefault();
    if (editor.firstChild && !draft.read(draftName)) closeEditor();
    else close();
  }

  const typed = draft.read(draftName);
  if (typed && canEdit(detail)) edit();
  else if (typed) fill(editor, leftText(typed.title, typed.text, closeEditor));
  const element = h("article", { class: "card", "aria-labelledby": "operation-title", onkeydown });

  /** @param {OperationDetail} now */
  function update(now) {
    detail = now;
    const operation = detail.summary;
    const isOpen = !closedStates.includes(operation.state);
    const kind = words.kind[operation.kind] ?? operation.kind;
    refill(element,
      h("div", { class: "bar" },
        h("h2", { id: "operation-title", tabindex: "-1" },
          said.operationTitle(kind, oneLine(titleOf(operation)))),
        button({ class: "quiet", "aria-label": words.close, onclick: close }, "×")),
      h("p", {}, stateTag(operation.state)),
      lastAnswer(detail),
      facts(factsOf(detail)),
      isOpen && actions(detail, { act, edit: editAndFocus }),
      editor,
      operationCopies(detail, backendURL),
      h("h3", {}, said.attemptLog),
      h("ol", { class: "attempts" },
        h("li", {},
          h("div", {}, h("strong", {}, said.created)),
          h("div", { class: "quiet-text" }, time(operation.createdAt))),
        detail.attempts.map(attempt),
        isOpen && h("li", { class: "ahead", "data-key": "ahead" },
          h("div", {}, h("strong", {}, ahead(operation))))),
      block(said.payload, detail.payload),
      block(words.base, detail.base),
      block(words.server, detail.server));
  }
  update(first);
  return { element, update };
}

/** @param {OperationDetail} detail */
function factsOf({ summary: operation, headers, attempts }) {
  return [
    [said.item, `${operation.table} / ${operation.itemId}`],
    [said.changedColumns, operation.changedColumns.join(", ")],
    [said.why, isAnswer(operation, attempts) ? null : operation.reason],
    [said.sentWith, headers.join("\n")],
    [said.careful, operation.maybeApplied && said.maybeApplied],
  ].filter(([, value]) => value);
}

/** Whether the reason of a refusal tells of the last answer, which stands in large type above. */
const isAnswer = ({ state, reason }, attempts) => state === "quarantined" && lastAnswer({ attempts }) !== null
  && String(reason).includes(String(attempts.at(-1).status));

/** @param {OperationDetail} detail */
const canEdit = ({ summary: { state, kind }, mine }) =>
  editedStates.includes(state) && kind !== "delete" && Boolean(mine);

/** @param {OperationDetail} detail */
function actions(detail, { act, edit }) {
  const { id, state } = detail.summary;
  const href = `#/conflicts/${encodeURIComponent(id)}`;
  return h("div", { class: "actions" },
    state === "conflict" && h("a", { class: "button primary", href }, words.lookNow),
    retriedStates.includes(state) &&
      button({ class: "primary", "data-key": "retry", onclick: () => act("retry") }, said.retry),
    canEdit(detail) && button({ "data-key": "edit", onclick: edit }, said.editOperation),
    state !== "sending" && button({ "data-key": "discard", onclick: () => act("discard") }, said.discard));
}

function ahead({ state, nextAttemptAt }) {
  const isTimed = ["queued", "waiting", "unknown"].includes(state) && nextAttemptAt;
  return isTimed ? `${words.nextTryLabel}: ${timeAndDistance(nextAttemptAt)}` : said.ahead[state];
}

/** A value that can be unfolded. By its `key` it stays so when the card is drawn again. */
function block(name, value, key = name) {
  if (value === null || value === undefined || value === "") return null;
  return h("details", { "data-name": key, "data-key": key },
    h("summary", {}, name),
    h("pre", { tabindex: "0" }, pretty(value)));
}

function message(fields, body) {
  const hasBody = body !== null && body !== undefined;
  return [fields.join("\n"), hasBody && pretty(body)].filter(Boolean).join("\n\n");
}

/** @param {AttemptRecord} one */
function attempt(one) {
  const took = one.endedAt && milliseconds(Date.parse(one.endedAt) - Date.parse(one.startedAt));
  const outcome = words.operationState[one.outcome] ?? one.outcome;
  const answer = message(one.responseHeaders, one.responseExcerpt);
  return h("li", { "data-key": one.number },
    h("div", {},
      h("strong", {}, one.status ?? said.noAnswer), " ", h("code", {}, `${one.method} ${one.target}`)),
    h("div", { class: "quiet-text" }, joined(time(one.startedAt), took, outcome, one.error)),
    block(said.answer, answer, `answer ${one.number}`),
    block(said.request, message(one.requestHeaders, one.requestBody), `request ${one.number}`));
}
