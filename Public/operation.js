// One operation with all its attempts: what was sent, what came back, what happens next.

import { operator, parseJSON } from "./api.js";
import { fill, h, toast } from "./dom.js";
import { milliseconds, time, timeAndDistance } from "./formats.js";
import { stateTag } from "./queue-rendering.js";
import { titleOf } from "./queue-state.js";
import { words } from "./words.js";

const pretty = (value) => {
  if (typeof value !== "string") return JSON.stringify(value, null, 2);
  try {
    return JSON.stringify(parseJSON(value), null, 2);
  } catch {
    return value; // An answer that is no JSON is shown as it came.
  }
};

/** The card of one operation; `act(action)` retries or discards it, `close()` leaves it. */
export function operationDetail(detail, { close, act, saved }) {
  const operation = detail.summary;
  const isOpen = !["done", "discarded", "collapsed"].includes(operation.state);
  const canRetry = ["waiting", "unknown", "quarantined"].includes(operation.state);
  const canEdit = ["queued", "waiting", "quarantined", "conflict"].includes(operation.state) && operation.kind !== "delete" && detail.mine;
  const facts = [
    [words.item, `${operation.table} / ${operation.itemId}`],
    [words.changedColumns, operation.changedColumns?.join(", ")],
    [words.why, operation.reason],
    [words.sentWith, detail.headers.join("\n")],
    [words.careful, operation.maybeApplied && words.maybeApplied],
  ].filter(([, value]) => value);
  const editor = h("div", {});
  const edit = () => fill(editor, payloadEditor(detail, () => (fill(editor), saved())));
  return h("article", { class: "card", "aria-labelledby": "operation-title" },
    h("div", { class: "bar" },
      h("h2", { id: "operation-title", tabindex: "-1" }, `${words.kind[operation.kind] ?? operation.kind} “${titleOf(operation)}”`),
      h("button", { type: "button", class: "quiet", "aria-label": words.close, onclick: close }, "×")),
    h("p", {}, stateTag(operation.state)),
    h("dl", { class: "facts" }, facts.map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)])),
    isOpen && h("div", { class: "actions" },
      operation.state === "conflict" && h("a", { class: "button primary", href: `#/conflicts/${encodeURIComponent(operation.id)}` }, words.lookNow),
      canRetry && h("button", { type: "button", class: "primary", onclick: () => act("retry") }, words.retry),
      canEdit && h("button", { type: "button", "data-key": "edit", onclick: edit }, words.editOperation),
      operation.state !== "sending" && h("button", { type: "button", onclick: () => act("discard") }, words.discard)),
    editor,
    h("h3", {}, words.attemptLog),
    h("ol", { class: "attempts" },
      h("li", {}, h("div", {}, h("strong", {}, words.created)), h("div", { class: "quiet-text" }, time(operation.createdAt))),
      detail.attempts.map(attempt),
      isOpen && h("li", { class: "ahead" }, h("div", {}, h("strong", {}, ahead(operation))), operation.reason && h("div", { class: "quiet-text" }, operation.reason))),
    block(words.payload, detail.payload),
    block(words.base, detail.base),
    block(words.server, detail.server));
}

/** What the operation sends, to be changed and sent again. */
function payloadEditor(detail, done) {
  const operation = detail.summary;
  const field = h("textarea", { rows: "8", class: "code", spellcheck: "false", "aria-label": words.payload, value: pretty(detail.payload ?? detail.mine) });
  const save = async () => {
    try {
      const columns = parseJSON(field.value);
      await operator.patch(`/operations/${encodeURIComponent(operation.id)}`, { revision: operation.revision, columns });
      toast(words.editedOperation);
      done();
    } catch (problem) {
      toast(problem instanceof SyntaxError ? words.invalidResult(words.payload) : problem.message);
      field.focus();
    }
  };
  setTimeout(() => field.focus());
  return h("form", { class: "editor", onsubmit: (event) => (event.preventDefault(), save()) }, field,
    h("div", { class: "actions" }, h("button", { class: "primary" }, words.saveAndRetry),
      h("button", { type: "button", onclick: done }, words.cancel)));
}

/** What happens next, and when. */
function ahead(operation) {
  if (["waiting", "unknown"].includes(operation.state) && operation.nextAttemptAt) return `${words.nextTryLabel}: ${timeAndDistance(operation.nextAttemptAt)}`;
  return words.ahead[operation.state];
}

/** A value to be unfolded; `key` names it among those that stay unfolded when the card is drawn again. */
function block(name, value, key = name) {
  if (value === null || value === undefined || value === "") return null;
  return h("details", { "data-name": key }, h("summary", {}, name), h("pre", { tabindex: "0" }, pretty(value)));
}

/** Header fields and body as they went over the wire; secrets were left out when it was recorded. */
const message = (fields, body) => [fields.join("\n"), body === null || body === undefined ? null : pretty(body)].filter(Boolean).join("\n\n");

function attempt(one) {
  const took = one.endedAt ? milliseconds(new Date(one.endedAt) - new Date(one.startedAt)) : "";
  const outcome = words.operationState[one.outcome] ?? one.outcome;
  return h("li", {},
    h("div", {}, h("strong", {}, one.status ?? words.noAnswer), " ", h("code", {}, `${one.method} ${one.target}`)),
    h("div", { class: "quiet-text" }, [time(one.startedAt), took, outcome, one.error].filter(Boolean).join(" · ")),
    block(words.request, message(one.requestHeaders, one.requestBody), `request ${one.number}`),
    block(words.answer, message(one.responseHeaders, one.responseExcerpt), `answer ${one.number}`));
}
