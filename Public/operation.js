// One operation with all its attempts: what was sent, what came back, what happens next.

import { h } from "./dom.js";
import { distance, number, time, words } from "./words.js";

const pretty = (value) => (typeof value === "string" ? value : JSON.stringify(value, null, 2));

/** The card of one operation; `act(path, sentence)` retries or discards it, `close()` leaves it. */
export function operationDetail(detail, { close, act }) {
  const operation = detail.summary;
  const title = operation.title ?? operation.itemId;
  const isOpen = !["done", "discarded", "collapsed"].includes(operation.state);
  const canRetry = ["waiting", "unknown", "quarantined"].includes(operation.state);
  const facts = [
    [words.item, `${operation.table} / ${operation.itemId}`],
    [words.created, time(operation.createdAt)],
    [words.lastTry, operation.lastAttemptAt && `${time(operation.lastAttemptAt)} (${distance(operation.lastAttemptAt)})`],
    [words.nextTryLabel, operation.state === "waiting" && operation.nextAttemptAt && `${time(operation.nextAttemptAt)} (${distance(operation.nextAttemptAt)})`],
    [words.changedColumns, operation.changedColumns?.join(", ")],
    [words.why, operation.reason],
  ].filter(([, value]) => value);
  return h("article", { class: "card", "aria-labelledby": "operation-title" },
    h("div", { class: "bar" },
      h("h2", { id: "operation-title", tabindex: "-1" }, `${words.kind[operation.kind] ?? operation.kind} “${title}”`),
      h("button", { type: "button", class: "quiet", "aria-label": words.close, onclick: close }, "×")),
    h("p", {}, h("span", { class: `tag ${operation.state}` }, words.operationState[operation.state] ?? operation.state)),
    h("dl", { class: "facts" }, facts.map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)])),
    isOpen && h("div", { class: "actions" },
      operation.state === "conflict" && h("a", { class: "button primary", href: `#/conflicts/${encodeURIComponent(operation.id)}` }, words.lookNow),
      canRetry && h("button", { type: "button", class: "primary", onclick: () => act("retry", words.retried) }, words.retry),
      operation.state !== "sending" && h("button", { type: "button", onclick: () => confirm(words.discardAsk(title)) && act("discard", words.discarded) }, words.discard)),
    block(words.payload, detail.payload),
    block(words.base, detail.base),
    block(words.server, detail.server),
    h("h3", {}, words.attemptLog),
    detail.attempts.length === 0 ? h("p", { class: "quiet-text" }, words.noAttempts) : h("ol", { class: "attempts" }, detail.attempts.map(attempt)));
}

function block(name, value) {
  if (value === null || value === undefined) return null;
  return h("details", {}, h("summary", {}, name), h("pre", { tabindex: "0" }, pretty(value)));
}

function attempt(one) {
  const took = one.endedAt ? `${number(new Date(one.endedAt) - new Date(one.startedAt))} ms` : "";
  return h("li", {},
    h("div", {}, h("strong", {}, one.status ?? one.outcome), " ", h("code", {}, `${one.method} ${one.target}`)),
    h("div", { class: "quiet-text" }, [time(one.startedAt), took, one.error ?? (one.status ? one.outcome : null)].filter(Boolean).join(" · ")),
    block(words.request, one.requestBody),
    block(words.answer, one.responseExcerpt));
}
