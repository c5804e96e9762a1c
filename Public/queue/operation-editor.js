// The editor of what an operation sends.

import { operator, parseJSON } from "../shared/api.js";
import { oneAtATime } from "../shared/coalesce.js";
import { button, fill, form, h, note, saveButton } from "../shared/dom.js";
import { draft, draftOf } from "../shared/drafts.js";
import { edit } from "../shared/edit.js";
import { placeOfError, pretty } from "./json-text.js";
import { showProblem, toast } from "../shared/messages.js";
import { titleOf } from "./state.js";
import { queueWords as said } from "./words.js";
import { words } from "../shared/words.js";

/** @param {OperationDetail} detail */
const begunOf = ({ summary, payload, mine }) =>
  ({ version: summary.revision, text: pretty(payload ?? mine) });

/**
 * The form. A draft of the operation is there again, and is about the operation as it was when it was begun.
 * @param {OperationDetail} detail
 */
export function payloadEditor(detail, { saved, cancel }) {
  const { id } = detail.summary;
  const path = /** @type {const} */ (`/operations/${encodeURIComponent(id)}`);
  const name = draftOf.operation(id);
  const earlier = draft.read(name);
  const now = async () => begunOf(await operator.get(path));
  const editing = edit(name, earlier?.began ?? begunOf(detail), {
    typed: (began) => (field.value === began.text ? null :
      { id, title: titleOf(detail.summary), text: field.value, began }),
    nowOf: (problem) => (problem.code === "operation-changed" ? now() : null),
    isSame: (now, began) => now.text === began.text,
  });
  const field = h("textarea", {
    rows: "8", class: "code", spellcheck: "false", "aria-label": said.payload,
    "aria-describedby": "payload-problem", value: earlier?.text ?? editing.began().text, oninput: keep,
  });
  const wrong = h("p", { class: "attention", id: "payload-problem", role: "alert", hidden: true });
  const newer = h("div", {});
  const end = button({ onclick: cancel }, earlier ? words.giveUp : words.cancel);

  function keep() {
    editing.keep();
    fill(end, field.value === editing.began().text ? words.cancel : words.giveUp);
  }

  const save = oneAtATime(async () => {
    wrong.hidden = true;
    try {
      const columns = parseJSON(field.value);
      await editing.submit(async (revision) => {
        await operator.patch(path, { revision, columns });
        toast(said.editedOperation);
      }, {
        changedWhileTyping: words.changedWhileTyping,
        showNewer: ({ text }) => fill(newer, note(words.sentNow), h("pre", { tabindex: "0" }, text)),
        done: saved,
        /** The edit is about the operation as it was saved, with what was typed meanwhile. */
        async goOn() {
          if (!field.isConnected) return saved(); // Another card of the operation has it.
          editing.begin(await now());
          fill(newer);
          keep();
        },
      });
    } catch (problem) {
      keep();
      field.focus();
      if (problem instanceof SyntaxError) showPlace();
      else showProblem(problem);
    }
  });

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
  return form({ class: "editor" }, save, field, wrong, newer, earlier && note(words.unsavedHere),
    note(said.saveKeys),
    h("div", { class: "actions" },
      saveButton(said.saveAndRetry),
      end));
}
