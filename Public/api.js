// The two ways to the proxy: /tables as any client, and the operator API with the session.

import { words } from "./words.js";

const sessionKey = "understudy-session";

/** Exchanges the one-time link in the address, if there is one, for a cookie and a session value. */
export async function signInByLink() {
  const match = /^#link=([^&]+)/.exec(location.hash);
  if (!match) return;
  history.replaceState(null, "", location.pathname + "#/todos");
  // Any page can lead here with a link that is none: the session that holds stays until one is taken.
  const { session } = await operator.post("/session", { link: decoded(match[1]) });
  localStorage.setItem(sessionKey, session);
}

/** Percent-encoded text decoded, or as it is where it cannot be. */
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

/** A refusal or failure, with the sentence that the proxy gave. */
export class Problem extends Error {
  constructor(status, body, fallback) {
    super(body?.detail ?? body?.title ?? body?.error ?? fallback);
    this.status = status;
    this.code = body?.code;
    this.body = body;
  }
}

export function sessionHeader() {
  const value = localStorage.getItem(sessionKey);
  return value ? { "Understudy-Session": value } : {};
}

/**
 * Reads JSON so that no number changes: one that JavaScript cannot hold keeps its own text, which
 * `JSON.stringify` writes again as it came.
 */
export function parseJSON(text) {
  return JSON.parse(text, (_, value, context) =>
    typeof value === "number" && context?.source && JSON.rawJSON && !keepsText(value, context.source)
      ? JSON.rawJSON(context.source)
      : value,
  );
}

const keepsText = (value, source) => String(value) === source || (Number.isSafeInteger(value) && !/[.eE]/.test(source));

async function request(method, path, { body, headers = {}, signal } = {}) {
  let answer;
  try {
    answer = await fetch(path, {
      method,
      signal,
      credentials: "same-origin",
      headers: { ...headers, ...(body === undefined ? {} : { "Content-Type": "application/json" }) },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem(0, null, words.noAnswerHere);
  }
  const text = await answer.text();
  let value = null;
  try {
    value = text ? parseJSON(text) : null;
  } catch {
    // A body that is not JSON is only ever an error page; its status says enough.
  }
  if (!answer.ok) throw new Problem(answer.status, value, `${method} ${path}: ${answer.status}`);
  return value;
}

const operatorRoot = "/-/api/v1";

/** Whose rows, queue and history are shown: `?identity=` of the page's own address, so that it can be shared. */
export const identity = new URLSearchParams(location.search).get("identity");

/** Whether those rows are the ones that this page's own writes go to. Others are only looked at. */
export const canWrite = identity === null || identity === "anonymous";

/** An address of the operator API; what is kept for each identity is asked for the one that is shown. */
export function operatorPath(path) {
  if (!identity || /^\/(session|mode|settings|rejections|access)/.test(path)) return operatorRoot + path;
  return `${operatorRoot}${path}${path.includes("?") ? "&" : "?"}identity=${encodeURIComponent(identity)}`;
}

export const operator = {
  get: (path, options) => request("GET", operatorPath(path), { headers: sessionHeader(), ...options }),
  post: (path, body = {}) => request("POST", operatorPath(path), { body, headers: sessionHeader() }),
  patch: (path, body) => request("PATCH", operatorPath(path), { body, headers: sessionHeader() }),
  remove: (path) => request("DELETE", operatorPath(path), { headers: sessionHeader() }),
};

// With the session, which opens /tables where only addresses of clients may call it.
const zumo = () => ({ "ZUMO-API-VERSION": "2.0.0", ...sessionHeader() });
const itemPath = (table, id) => `/tables/${encodeURIComponent(table)}/${encodeURIComponent(id)}`;

export const tables = {
  insert: (table, item) => request("POST", `/tables/${encodeURIComponent(table)}`, { body: item, headers: zumo() }),
  update: (table, id, changes) => request("PATCH", itemPath(table, id), { body: changes, headers: zumo() }),
  remove: (table, id) => request("DELETE", itemPath(table, id), { headers: zumo() }),
  undelete: (table, id) => request("POST", itemPath(table, id), { headers: zumo() }),
};

/** Makes `?a=b&c=d` from what is neither null nor empty. */
export function query(parameters) {
  const pairs = Object.entries(parameters).filter(([, value]) => value !== null && value !== undefined && value !== "");
  return pairs.length ? "?" + new URLSearchParams(pairs) : "";
}
