// Marks what changed between two texts, by characters, for people who compare by eye.

import { h } from "./dom.js";

const longestForCharacters = 2000;

/** The parts of `text` that differ from `other`, as nodes: `<mark>` around what is not in `other`. */
export function marked(text, other) {
  if (other === null || other === undefined || text === other) return [text];
  if (text.length + other.length > longestForCharacters) return [h("mark", {}, text)];
  return parts(Array.from(text), Array.from(other)).map(([same, run]) => (same ? run : h("mark", {}, run)));
}

/** Runs of `a` that are, or are not, part of its longest common subsequence with `b`. */
export function parts(a, b) {
  const lengths = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      lengths[i][j] = a[i] === b[j] ? lengths[i + 1][j + 1] + 1 : Math.max(lengths[i + 1][j], lengths[i][j + 1]);
  const runs = [];
  const add = (same, character) => {
    const last = runs.at(-1);
    if (last && last[0] === same) last[1] += character;
    else runs.push([same, character]);
  };
  let i = 0;
  let j = 0;
  while (i < a.length) {
    if (j < b.length && a[i] === b[j]) add(true, a[i++]), j++;
    else if (j < b.length && lengths[i][j + 1] > lengths[i + 1][j]) j++;
    else add(false, a[i++]);
  }
  return runs;
}

/** A JSON value as a person reads it: texts without quotes, everything else as JSON. */
export function readable(value) {
  if (value === undefined) return null;
  if (typeof value === "string") return value;
  return JSON.stringify(value, null, 1);
}
