// An edit of what is stored: of a row, of the text of a todo, of what an operation sends. What is typed is a
// draft until it is stored or given up, and it replaces only the state in which the edit was begun.

import { draft } from "./drafts.js";

/**
 * `typed(began)` gives what the draft keeps, null where nothing is changed. `nowOf(problem)` gives the state
 * that a refused save was not about, null where the problem is another one. `isSame(now, began)` says
 * whether what is typed would replace the same in both.
 * @template {Begun} State
 * @param {string} name of the draft
 * @param {State} began the state in which the edit was begun
 * @param {EditParts<State>} parts
 */
export function edit(name, began, { typed, nowOf, isSame }) {
  const kept = () => JSON.stringify(draft.read(name));

  function keep() {
    const now = typed(began);
    if (now) draft.write(name, now);
    else draft.forget(name);
  }

  /** Where a newer state has the same in what is typed, the edit is stored above it without a question. */
  async function store(send) {
    for (;;)
      try {
        return await send(began.version);
      } catch (problem) {
        const now = await nowOf(problem);
        if (!now || now.version === began.version) throw problem;
        if (!isSame(now, began)) throw Object.assign(problem, { now });
        began = now;
      }
  }

  /** The edit is about another state from now on. @param {State} now */
  function begin(now) {
    began = now;
    keep();
  }

  return {
    keep, store, begin,
    began: () => began,
    forget: () => draft.forget(name),
    kept: () => draft.read(name),
    write: (value) => draft.write(name, value),
    /** What was typed is a draft of another name from now on. */
    rename(next) {
      draft.move(name, next);
      name = next;
    },
    /**
     * Stores the edit by `send(version)`. A newer state that differs is shown by `showNewer(now, began)`;
     * another submit replaces that. `done()` follows, or `goOn(stored)` where a person typed meanwhile.
     */
    async submit(send, { showNewer = (now, began) => {}, changedWhileTyping = "", done, goOn }) {
      keep();
      const sent = kept();
      const stored = await store(send).catch((problem) => {
        if (!problem.now) throw problem;
        showNewer(problem.now, began);
        begin(problem.now);
        throw new Error(changedWhileTyping);
      });
      if (kept() !== sent) return goOn(stored);
      draft.forget(name);
      done();
    },
  };
}
