// The two ways to the proxy: /tables as any client, and the operator API with the session.

import { countRequest } from "./coalesce.js";
import { untilReleased } from "./press.js";
import { words } from "./words.js";

const sessionKey = "understudy-session";
const readOnlyKey = "understudy-read-only";
const operatorRoot = "/-/api/v1";

/** Exchanges the one-time link in the address, if there is one, for a session. */
export async function signInByLink() {
  const match = /^#link=([^&]+)/.exec(location.hash);
  if (!match) return;
  history.replaceState(null, "", location.pathname + "#/todos");
  // Any page can lead here with a wrong link. So the earlier session stays until a link is accepted.
  const made = await operator.post("/session", { link: decoded(match[1]) });
  localStorage.setItem(sessionKey, made.session);
  localStorage.setItem(readOnlyKey, made.isReadOnly ? "yes" : "");
  if (made.isReadOnly !== isReadOnly) location.reload(); // The page was made for the earlier session.
}

/** Decodes percent-encoded text. Gives text that cannot be decoded as it is. */
export function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function forgetSession() {
  localStorage.removeItem(sessionKey);
}

/** @returns {Record<string, string>} */
export function sessionHeader() {
  const value = localStorage.getItem(sessionKey);
  return value ? { "Understudy-Session": value } : {};
}

/** A refusal or failure, with the sentence that the proxy gave. */
class Problem extends Error {
  constructor(status, body, fallback) {
    super(body?.detail ?? body?.title ?? body?.error ?? fallback);
    this.status = status;
    this.code = body?.code;
    /** The row as it is, where it is no longer the version that was sent. @type {Item | null} */
    this.row = status === 412 ? body : null;
  }
}

/**
 * Reads JSON so that no number changes. A number that JavaScript cannot hold keeps its text, and
 * `JSON.stringify` writes that text again.
 */
export function parseJSON(text) {
  return JSON.parse(text, (_, value, context) =>
    typeof value === "number" && context?.source && JSON.rawJSON && !keepsText(value, context.source)
      ? JSON.rawJSON(context.source)
      : value,
  );
}

const keepsText = (value, source) =>
  String(value) === source || (Number.isSafeInteger(value) && !/[.eE]/.test(source));

async function request(method, path, headers, body, readFile = /** @type {any} */ (null)) {
  const hasBody = body !== undefined;
  let answer;
  let text;
  countRequest();
  try {
    answer = await fetch(path, {
      method,
      credentials: "same-origin",
      headers: hasBody ? { ...headers, "Content-Type": "application/json" } : headers,
      body: hasBody ? JSON.stringify(body) : undefined,
    });
    if (readFile && answer.ok) return await readFile(answer);
    text = await answer.text();
  } catch {
    await untilReleased();
    throw new Problem(0, null, words.noAnswerHere);
  }
  await untilReleased();
  let value = null;
  try {
    value = text ? parseJSON(text) : null;
  } catch {
  }
  if (!answer.ok) throw new Problem(answer.status, value, words.failedRequest(method, path, answer.status));
  return value;
}

/** Whose rows, queue and history are shown: `?identity=` of the page's address. */
export const identity = new URLSearchParams(location.search).get("identity");

/** Whether the link that signed this browser in lets it change nothing. The proxy refuses what it tries. */
export const isReadOnly = localStorage.getItem(readOnlyKey) === "yes";

/** Whether this page can write to the rows that it shows. Another identity's rows can only be read. */
export const canWrite = !isReadOnly && (identity === null || identity === "anonymous");
export const whyNotWrite = isReadOnly ? words.readOnlyMeans : words.onlyLooking;

/** An address of the operator API, for the identity that is shown where each one has rows of its own. */
export function operatorPath(path) {
  const isForAll =
    /^\/(session|mode|settings|rejections|access|backups|operations\/assign)/.test(path);
  if (!identity || isForAll) return operatorRoot + path;
  return `${operatorRoot}${path}${path.includes("?") ? "&" : "?"}identity=${encodeURIComponent(identity)}`;
}

const callOperator = (method, path, body) => request(method, operatorPath(path), sessionHeader(), body);

export const operator = /** @type {OperatorAPI} */ (/** @type {any} */ ({
  get: (path) => callOperator("GET", path),
  post: (path, body) => callOperator("POST", path, body ?? {}),
  patch: (path, body) => callOperator("PATCH", path, body),
  remove: (path) => callOperator("DELETE", path),
}));

/** A whole list as a file with its name. A link could not send the session. */
export const download = (path) => request("GET", operatorPath(path), sessionHeader(), undefined,
  async (answer) => ({
    name: /filename="(.+)"/.exec(answer.headers.get("Content-Disposition"))?.[1],
    blob: await answer.blob(),
  }));

/** Sends the decisions that are held back for an undo. It works also while the page is left. */
export const sendDecisions = () => fetch(operatorPath("/conflicts/send"), {
  method: "POST", keepalive: true, credentials: "same-origin", headers: sessionHeader(),
}).then(() => {}, () => {}); // Without an answer they are sent when their time has come.

// The session may use /tables, also where only clients with an address of their own may.
const zumo = () => ({ "ZUMO-API-VERSION": "2.0.0", ...sessionHeader() });
/** @returns {Record<string, string>} */
const ifMatch = (version) => (version ? { "If-Match": `"${version.replaceAll('"', '\\"')}"` } : {});
const tablePath = (table) => `/tables/${encodeURIComponent(table)}`;
const itemPath = (table, id) => `${tablePath(table)}/${encodeURIComponent(id)}`;

export const tables = {
  read: (table, id) => request("GET", itemPath(table, id), zumo()),
  insert: (table, item) => request("POST", tablePath(table), zumo(), item),
  /** With a version, nothing is changed where the row has another one; the problem has that row then. */
  update: (table, id, changes, version = null) =>
    request("PATCH", itemPath(table, id), { ...zumo(), ...ifMatch(version) }, changes),
  remove: (table, id, version = null) =>
    request("DELETE", itemPath(table, id), { ...zumo(), ...ifMatch(version) }),
  undelete: (table, id) => request("POST", itemPath(table, id), zumo()),
};

/**
 * Makes `?a=b&c=d` from what is neither null nor empty.
 * @returns {"" | `?${string}`}
 */
export function query(parameters) {
  const isGiven = ([, value]) => value !== null && value !== undefined && value !== "";
  const pairs = Object.entries(parameters).filter(isGiven);
  return pairs.length ? `?${new URLSearchParams(pairs)}` : "";
}
