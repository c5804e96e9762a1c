// What kind of value a column has, and how what a person types becomes one. Numbers keep their digits: none
// goes through a binary number.

import { parseJSON } from "../shared/api.js";
import { readable } from "../shared/diff.js";
import { tableWords as said } from "./words.js";
import { words } from "../shared/words.js";

const timePattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)$/;
const dayPattern = /^\d{4}-\d\d-\d\d$/;
const numberPattern = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;

const isNumber = (value) => typeof value === "number" || JSON.isRawJSON?.(value) === true;

/**
 * The kind of a value; null where there is none.
 * @returns {ValueKind | null}
 */
export function kindOf(value) {
  if (value === null || value === undefined) return null;
  if (typeof value === "boolean") return "boolean";
  if (isNumber(value)) return "number";
  if (typeof value !== "string") return "json";
  if (timePattern.test(value) && !Number.isNaN(Date.parse(value))) return "time";
  return dayPattern.test(value) ? "day" : "text";
}

/**
 * The kind of a column: that of its values in some rows. Texts, times and days together are texts; other
 * kinds together are JSON.
 * @param {Item[]} items
 * @returns {ValueKind | null}
 */
export function columnKind(name, items) {
  const kinds = new Set(items.map((item) => kindOf(item[name])));
  kinds.delete(null);
  if (kinds.size === 1) return [...kinds][0];
  if (kinds.size === 0) return null;
  return [...kinds].every((kind) => ["time", "day", "text"].includes(kind ?? "")) ? "text" : "json";
}

/** A value as a field shows it. */
export function shown(value, kind) {
  if (value === null || value === undefined) return "";
  return kind === "time" ? localTime(value) : (readable(value) ?? "");
}

/** A time as the browser's field for times takes it, in the zone of the reader, to the millisecond. */
function localTime(text) {
  const at = new Date(text);
  const two = (part) => String(part).padStart(2, "0");
  const year = String(at.getFullYear()).padStart(4, "0");
  const day = [year, two(at.getMonth() + 1), two(at.getDate())].join("-");
  const clock = [two(at.getHours()), two(at.getMinutes()), two(at.getSeconds())].join(":");
  return `${day}T${clock}.${String(at.getMilliseconds()).padStart(3, "0")}`;
}

/**
 * The value that a person typed. Throws with a sentence for a person where it is of another kind.
 * @param {ValueKind | null} kind Null: the column has no value so far, and takes JSON or else a text.
 */
export function typed(name, text, kind) {
  switch (kind) {
    case "text": return text;
    case "boolean": return text === "" ? null : text === "true";
    case "number": {
      const digits = text.trim();
      if (digits === "") return null;
      if (!numberPattern.test(digits)) throw new Error(said.notNumber(name));
      return parseJSON(digits);
    }
    case "time": {
      if (text === "") return null;
      const at = new Date(text);
      if (Number.isNaN(at.getTime())) throw new Error(said.notDate(name));
      return at.toISOString();
    }
    case "day": return text === "" ? null : text;
    default:
      try {
        return parseJSON(text || "null");
      } catch {
        if (kind === "json") throw new Error(words.invalidResult(name));
        return text;
      }
  }
}

/** The columns that a person names in a JSON object; none where the text is empty. */
export function typedColumns(text) {
  if (!text.trim()) return {};
  let value = null;
  try {
    value = parseJSON(text);
  } catch {
    // The sentence below says it.
  }
  if (value === null || typeof value !== "object" || Array.isArray(value) || JSON.isRawJSON?.(value)) {
    throw new Error(said.notObject);
  }
  return value;
}
