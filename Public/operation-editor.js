// The editor of what an operation sends. Its text is a draft until it is saved or given up.

import { operator, parseJSON } from "./api.js";
import { oneAtATime } from "./coalesce.js";
import { button, fill, form, h, note, saveButton } from "./dom.js";
import { draft, draftOf } from "./drafts.js";
import { showProblem, toast } from "./messages.js";
import { titleOf } from "./queue-state.js";
import { queueWords as said } from "./words-queue.js";
import { words } from "./words.js";

/** A value as indented JSON. An answer that is no JSON stays as it came. */
export const pretty = (value) => {
  if (typeof value !== "string") return JSON.stringify(value, null, 2);
  try {
    return JSON.stringify(parseJSON(value), null, 2);
  } catch {
    return value;
  }
};

const editable = ({ payload, mine }) => pretty(payload ?? mine);

/**
 * The form. A draft of the operation is there again, and is about the operation as it was when it was begun.
 * @param {OperationDetail} detail
 */
export function payloadEditor(detail, { saved, cancel }) {
  const { id } = detail.summary;
  const draftName = draftOf.operation(id);
  const typed = draft.read(draftName);
  let { revision, began } = typed ?? { revision: detail.summary.revision, began: editable(detail) };
  const field = h("textarea", {
    rows: "8", class: "code", spellcheck: "false", "aria-label": said.payload,
    "aria-describedby": "payload-problem", value: typed?.text ?? began, oninput: keep,
  });
  const wrong = h("p", { class: "attention", id: "payload-problem", role: "alert", hidden: true });
  const newer = h("div", {});
  const end = button({ onclick: cancel }, typed ? words.giveUp : words.cancel);

  function keep() {
    const title = titleOf(detail.summary);
    if (field.value === began) draft.forget(draftName);
    else draft.write(draftName, { id, title, text: field.value, revision, began });
    fill(end, field.value === began ? words.cancel : words.giveUp);
  }

  const save = oneAtATime(async () => {
    wrong.hidden = true;
    const sent = field.value;
    try {
      await send(parseJSON(sent));
      toast(said.editedOperation);
      if (field.value !== sent) return await goOn();
      if ((draft.read(draftName)?.text ?? sent) === sent) draft.forget(draftName);
      saved();
    } catch (problem) {
      field.focus();
      if (problem instanceof SyntaxError) showPlace();
      else showProblem(problem);
    }
  });

  /** The edit is about the operation as it was saved, with what was typed meanwhile. */
  async function goOn() {
    const now = await operator.get(`/operations/${encodeURIComponent(id)}`);
    [revision, began] = [now.summary.revision, editable(now)];
    fill(newer);
    keep();
  }

  /** Where the operation has changed but not what it sends, the edit is still about the same. */
  async function send(columns) {
    try {
      await operator.patch(`/operations/${encodeURIComponent(id)}`, { revision, columns });
    } catch (problem) {
      if (problem.code !== "operation-changed") throw problem;
      const now = await operator.get(`/operations/${encodeURIComponent(id)}`);
      const isOther = editable(now) !== began;
      [revision, began] = [now.summary.revision, editable(now)];
      keep();
      if (isOther) {
        fill(newer, note(words.sentNow), h("pre", { tabindex: "0" }, began));
        throw new Error(words.changedWhileTyping);
      }
      await operator.patch(`/operations/${encodeURIComponent(id)}`, { revision, columns });
    }
  }

  /** Says at which place the text stops being JSON, and puts the cursor there. */
  function showPlace() {
    const place = placeOfError(field.value);
    const lines = field.value.slice(0, place).split("\n");
    fill(wrong, said.notJSON(lines.length, lines[lines.length - 1].length + 1));
    wrong.hidden = false;
    field.setSelectionRange(place, place);
  }

  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) save();
  });
  return form({ class: "editor" }, save, field, wrong, newer, typed && note(words.unsavedHere),
    note(said.saveKeys),
    h("div", { class: "actions" },
      saveButton(said.saveAndRetry),
      end));
}

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
