// Marks what changed between two texts, for people who compare by eye: by words, and by lines where the texts
// are long.

import { h } from "./dom.js";

const mostCells = 250_000;
const wordWeight = 100; // At most 500 words are in common: the sum fits into 16 bits.

const splits = [
  (text) => text.match(/\s+|[^\s]+/g) ?? [],
  (text) => text.match(/.*\n|.+$/g) ?? [],
];

/** `text` as nodes, with `<mark>` around what is not in `other`. */
export function marked(text, other) {
  if (other === null || other === undefined || text === other) return [text];
  // The common beginning and end need no comparison. Without them long texts are short enough for one.
  let from = 0;
  while (from < text.length && text[from] === other[from]) from++;
  let end = 0;
  const endMost = Math.min(text.length, other.length) - from;
  while (end < endMost && text.at(-1 - end) === other.at(-1 - end)) end++;
  while (from > 0 && isLetter(text[from - 1]) && (isLetter(text[from]) || isLetter(other[from]))) from--;
  while (end > 0 && isLetter(text.at(-end)) && (isLetter(text.at(-1 - end)) || isLetter(other.at(-1 - end))))
    end--;
  const middle = between(text.slice(from, text.length - end), other.slice(from, other.length - end));
  return [text.slice(0, from), ...middle, text.slice(text.length - end)];
}

/** Whether it belongs to a word; there is none before the first and after the last letter of a text. */
const isLetter = (letter) => letter !== undefined && /\S/.test(letter);

/** Compares by the smallest pieces that are few enough. If none are few enough, it marks all of the text. */
function between(text, other) {
  for (const split of splits) {
    const [a, b] = [split(text), split(other)];
    if (a.length * b.length > mostCells) continue;
    return parts(a, b).map(([isSame, run]) => (isSame ? run : h("mark", {}, run)));
  }
  return [h("mark", {}, text)];
}

/** Runs of `a` that are, or are not, in `b` as well. From both sides the same pieces are in both. */
function parts(a, b) {
  const isFirst = a.join("") <= b.join("");
  const shared = isFirst ? common(a, b)[0] : common(b, a)[1];
  const runs = [];
  a.forEach((piece, index) => {
    const isSame = shared.has(index);
    const last = runs.at(-1);
    if (last && last[0] === isSame) last[1] += piece;
    else runs.push([isSame, piece]);
  });
  return runs;
}

/** The places in `a` and in `b` of a longest common subsequence. A space counts little beside a word. */
function common(a, b) {
  const weights = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      weights[i][j] = a[i] === b[j]
        ? weights[i + 1][j + 1] + (/\S/.test(a[i]) ? wordWeight : 1)
        : Math.max(weights[i + 1][j], weights[i][j + 1]);
  /** @type {[Set<number>, Set<number>]} */
  const places = [new Set(), new Set()];
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    if (a[i] === b[j]) {
      places[0].add(i++);
      places[1].add(j++);
    } else if (weights[i][j + 1] > weights[i + 1][j]) j++;
    else i++;
  }
  return places;
}

/** A JSON value as a person reads it: texts without quotes, everything else as JSON. */
export function readable(value) {
  if (value === undefined) return null;
  if (typeof value === "string") return value;
  return JSON.stringify(value, null, 1);
}
