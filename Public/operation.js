// The card of one operation with all its attempts: what was sent, what came back, what happens next.

import { operator, parseJSON } from "./api.js";
import { button, facts, fill, find, form, h, joined, note } from "./dom.js";
import { milliseconds, time, timeAndDistance } from "./formats.js";
import { placeOfError } from "./json-place.js";
import { showProblem, toast } from "./messages.js";
import { lastAnswer, operationCopies } from "./operation-answer.js";
import { stateTag } from "./queue-rows.js";
import { closedStates, titleOf } from "./queue-state.js";
import { words } from "./words.js";

const retriedStates = ["waiting", "unknown", "quarantined"];
const editedStates = ["queued", "waiting", "quarantined", "conflict"];

/** A value as indented JSON. An answer that is no JSON stays as it came. */
const pretty = (value) => {
  if (typeof value !== "string") return JSON.stringify(value, null, 2);
  try {
    return JSON.stringify(parseJSON(value), null, 2);
  } catch {
    return value;
  }
};

/**
 * The card; `saved()` is called after an edit.
 * @param {OperationDetail} detail
 * @param {string | null} backendURL
 * @param {{ close(): void, act(action: "retry" | "discard"): void, saved(): void }} actions
 */
export function operationDetail(detail, backendURL, { close, act, saved }) {
  const operation = detail.summary;
  const isOpen = !closedStates.includes(operation.state);
  const editor = h("div", {});
  const edit = () => fill(editor, payloadEditor(detail, { saved, cancel: closeEditor }));
  function closeEditor() {
    fill(editor);
    find(card, "[data-key=edit]")?.focus();
  }
  const kind = words.kind[operation.kind] ?? operation.kind;
  function onkeydown(event) {
    if (event.key !== "Escape" || event.defaultPrevented) return;
    event.preventDefault();
    if (editor.firstChild) closeEditor();
    else close();
  }

  const card = h("article", { class: "card", "aria-labelledby": "operation-title", onkeydown },
    h("div", { class: "bar" },
      h("h2", { id: "operation-title", tabindex: "-1" }, words.operationTitle(kind, titleOf(operation))),
      button({ class: "quiet", "aria-label": words.close, onclick: close }, "×")),
    h("p", {}, stateTag(operation.state)),
    lastAnswer(detail),
    facts(factsOf(detail)),
    isOpen && actions(detail, { act, edit }),
    editor,
    operationCopies(detail, backendURL),
    h("h3", {}, words.attemptLog),
    h("ol", { class: "attempts" },
      h("li", {},
        h("div", {}, h("strong", {}, words.created)),
        h("div", { class: "quiet-text" }, time(operation.createdAt))),
      detail.attempts.map((one, index) => attempt(one, index === detail.attempts.length - 1)),
      isOpen && h("li", { class: "ahead" },
        h("div", {}, h("strong", {}, ahead(operation))),
        operation.reason && h("div", { class: "quiet-text" }, operation.reason))),
    block(words.payload, detail.payload),
    block(words.base, detail.base),
    block(words.server, detail.server));
  return card;
}

/** @param {OperationDetail} detail */
function factsOf({ summary: operation, headers }) {
  return [
    [words.item, `${operation.table} / ${operation.itemId}`],
    [words.changedColumns, operation.changedColumns.join(", ")],
    [words.why, operation.reason],
    [words.sentWith, headers.join("\n")],
    [words.careful, operation.maybeApplied && words.maybeApplied],
  ].filter(([, value]) => value);
}

function actions({ summary: { id, state, kind }, mine }, { act, edit }) {
  const canEdit = editedStates.includes(state) && kind !== "delete" && mine;
  const href = `#/conflicts/${encodeURIComponent(id)}`;
  return h("div", { class: "actions" },
    state === "conflict" && h("a", { class: "button primary", href }, words.lookNow),
    retriedStates.includes(state) && button({ class: "primary", onclick: () => act("retry") }, words.retry),
    canEdit && button({ "data-key": "edit", onclick: edit }, words.editOperation),
    state !== "sending" && button({ onclick: () => act("discard") }, words.discard));
}

function payloadEditor({ summary: { id, revision }, payload, mine }, { saved, cancel }) {
  const field = h("textarea", {
    rows: "8", class: "code", spellcheck: "false", "aria-label": words.payload,
    "aria-describedby": "payload-problem", value: pretty(payload ?? mine),
  });
  const wrong = h("p", { class: "attention", id: "payload-problem", role: "alert", hidden: true });
  const save = async () => {
    wrong.hidden = true;
    try {
      const columns = parseJSON(field.value);
      await operator.patch(`/operations/${encodeURIComponent(id)}`, { revision, columns });
      toast(words.editedOperation);
      saved();
    } catch (problem) {
      field.focus();
      if (problem instanceof SyntaxError) showPlace();
      else showProblem(problem);
    }
  };

  /** Says at which place the text stops being JSON, and puts the cursor there. */
  function showPlace() {
    const place = placeOfError(field.value);
    const lines = field.value.slice(0, place).split("\n");
    fill(wrong, words.notJSON(lines.length, lines[lines.length - 1].length + 1));
    wrong.hidden = false;
    field.setSelectionRange(place, place);
  }

  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) save();
  });
  setTimeout(() => field.focus());
  return form({ class: "editor" }, save, field, wrong, note(words.saveKeys),
    h("div", { class: "actions" },
      h("button", { class: "primary" }, words.saveAndRetry),
      button({ onclick: cancel }, words.cancel)));
}

function ahead({ state, nextAttemptAt }) {
  const isTimed = (state === "waiting" || state === "unknown") && nextAttemptAt;
  return isTimed ? `${words.nextTryLabel}: ${timeAndDistance(nextAttemptAt)}` : words.ahead[state];
}

/** A value that can be unfolded. By its `key` it stays so when the card is drawn again. */
function block(name, value, key = name, isOpen = false) {
  if (value === null || value === undefined || value === "") return null;
  return h("details", { "data-name": key, open: isOpen },
    h("summary", {}, name),
    h("pre", { tabindex: "0" }, pretty(value)));
}

function message(fields, body) {
  const hasBody = body !== null && body !== undefined;
  return [fields.join("\n"), hasBody && pretty(body)].filter(Boolean).join("\n\n");
}

/**
 * @param {AttemptRecord} one
 * @param {boolean} isLast The answer to the last attempt is shown.
 */
function attempt(one, isLast) {
  const took = one.endedAt && milliseconds(Date.parse(one.endedAt) - Date.parse(one.startedAt));
  const outcome = words.operationState[one.outcome] ?? one.outcome;
  const answer = message(one.responseHeaders, one.responseExcerpt);
  return h("li", {},
    h("div", {},
      h("strong", {}, one.status ?? words.noAnswer), " ", h("code", {}, `${one.method} ${one.target}`)),
    h("div", { class: "quiet-text" }, joined(time(one.startedAt), took, outcome, one.error)),
    block(words.answer, answer, `answer ${one.number}`, isLast),
    block(words.request, message(one.requestHeaders, one.requestBody), `request ${one.number}`));
}
