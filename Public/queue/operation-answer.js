// What the backend said about an operation, in large type, and the copies of its last request and of all that
// is known of it.

import { parseJSON } from "../shared/api.js";
import { copyButton, shell } from "../shared/clipboard.js";
import { button, h } from "../shared/dom.js";
import { shortened } from "../shared/formats.js";
import { queueWords as said } from "./words.js";

const messageMost = 300;
const secretNames = /^(authorization|cookie|x-zumo-auth|x-zumo-application|x-zumo-master|idempotency-key)$/i;

/**
 * The last answer: its status and error, or why there was none. Null before the first attempt, and where the
 * backend took the operation.
 * @param {Pick<OperationDetail, "attempts">} detail
 */
export function lastAnswer({ attempts }) {
  const last = attempts.at(-1);
  if (!last || (last.status !== null && last.status < 300)) return null;
  const message = shortened(messageOf(last) ?? "", messageMost);
  return h("div", { class: "last-answer", dir: "auto" },
    h("strong", {}, last.status ?? said.noAnswer), message && ` ${message}`);
}

/**
 * The error that an answer names, in the places where servers put it, else its text.
 * @param {AttemptRecord} attempt
 */
function messageOf({ responseExcerpt, error }) {
  if (!responseExcerpt) return error;
  try {
    const body = parseJSON(responseExcerpt);
    const found = [body?.error?.message, body?.error, body?.message, body?.detail, body?.title]
      .find((value) => typeof value === "string" && value !== "");
    return found ?? error ?? responseExcerpt;
  } catch {
    return responseExcerpt;
  }
}

/**
 * Copies of an operation: its last request for a terminal, its id, and all of it as a file.
 * @param {OperationDetail} detail
 * @param {string | null} backendURL
 */
export function operationCopies(detail, backendURL) {
  const { id } = detail.summary;
  const last = detail.attempts.at(-1);
  return h("div", { class: "actions copies" },
    last && copyButton({ class: "small" }, said.copyCurl, () => curlOf(last, backendURL)),
    copyButton({ class: "small" }, said.copyId, () => id),
    button({ class: "small", onclick: () => download(`operation-${id}.json`, detail) }, said.downloadJSON));
}

/**
 * The request as a line of curl, without tokens: a person adds one by hand.
 * @param {AttemptRecord} attempt
 */
function curlOf({ method, target, requestHeaders, requestBody }, backendURL) {
  const fields = requestHeaders.filter((field) => !secretNames.test(field.split(":")[0]));
  const hasBody = requestBody !== null && requestBody !== undefined;
  const body = typeof requestBody === "string" ? requestBody : JSON.stringify(requestBody);
  const origin = backendURL ? new URL(backendURL).origin : "";
  return [
    "curl", "-X", method,
    ...fields.flatMap((field) => ["-H", shell(field)]),
    ...(hasBody ? ["--data-raw", shell(body)] : []), // -d would read a file where the body begins with @.
    shell(origin + target),
  ].join(" ");
}

function download(name, value) {
  const href = URL.createObjectURL(new Blob([JSON.stringify(value, null, 2)], { type: "application/json" }));
  h("a", { href, download: name }).click();
  URL.revokeObjectURL(href);
}
