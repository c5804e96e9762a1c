// JSON as a person reads and types it.

import { parseJSON } from "../shared/api.js";

/** A value as indented JSON. An answer that is no JSON stays as it came. */
export const pretty = (value) => {
  if (typeof value !== "string") return JSON.stringify(value, null, 2);
  try {
    return JSON.stringify(parseJSON(value), null, 2);
  } catch {
    return value;
  }
};

const string = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const literal = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;

/**
 * The place of the first value or sign that does not fit; the length of the text where something is missing.
 */
export function placeOfError(text) {
  let at = 0;

  const space = () => {
    while (/[ \t\n\r]/.test(text[at] ?? "")) at++;
  };
  const take = (sign) => text[at] === sign && ++at > 0;
  const match = (pattern) => {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    at += found?.[0].length ?? 0;
    return found !== null;
  };

  /** The elements of a list or an object, after its opening sign. */
  function elements(close, element) {
    space();
    if (take(close)) return true;
    for (;;) {
      if (!element()) return false;
      space();
      if (take(close)) return true;
      if (!take(",")) return false;
      space();
    }
  }

  function member() {
    if (!match(string)) return false;
    space();
    return take(":") && value();
  }

  function value() {
    space();
    if (take("{")) return elements("}", member);
    if (take("[")) return elements("]", value);
    return match(string) || match(literal);
  }

  if (value()) space();
  return at;
}
