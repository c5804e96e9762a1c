// The field for a new todo. What was typed stays on screen until the proxy has answered that it is stored:
// in the field, or in a line below it where the next todo is typed meanwhile.

import { button, fill, form, h } from "../shared/dom.js";
import { draft, draftOf } from "../shared/drafts.js";
import { isComposing } from "../shared/keys.js";
import { showProblem, toast } from "../shared/messages.js";
import { isStandard } from "./source.js";
import { words } from "../shared/words.js";

const said = words.adding;
const noAnswer = 0; // The status of a request without an answer: the todo may have been stored.

/**
 * The fields by the name of their drafts. A field outlives its view, as what it has on the way does.
 * @type {Map<string, ReturnType<typeof makeField>>}
 */
const made = new Map();

/**
 * `insert(text)` gives the new row, or throws.
 * @param {TodoSource} source
 * @param {(text: string) => Promise<any>} insert
 */
export function newTodo(source, insert) {
  const name = draftOf.newTodo(source.table, source.text);
  // Without a draft there is nothing in it, or it was given up.
  const earlier = draft.read(name) === null ? null : made.get(name);
  const parts = earlier ?? makeField(name);
  made.set(name, parts);
  parts.use(isStandard(source) ? words.newTodo : words.newIn(source.table), insert);
  return parts;
}

/** @typedef {{ text: string, hasFailed: boolean, element: HTMLElement | null }} Adding */

/** @param {string} name of the draft */
function makeField(name) {
  const kept = draft.read(name) ?? { text: "", lines: [] };
  /** @type {(text: string) => Promise<any>} */
  let insert;
  const field = h("input", {
    id: "new-todo", name: "text", autocomplete: "off", value: kept.text,
    oninput: onInput,
    onkeydown: (event) => event.key === "Enter" && isComposing(event) && event.preventDefault(),
  });
  const list = h("ul", { class: "plain adding" });
  /** Texts that are on their way, or were not stored. @type {Adding[]} */
  let lines = [];
  /** The one on its way whose text still stands in the field. @type {Adding | null} */
  let sent = null;

  function keepDraft() {
    if (made.has(name) && made.get(name) !== own) return; // It was given up, and another has its place.
    const texts = [...lines, ...(sent ? [sent] : [])].map(({ text, hasFailed }) => ({ text, hasFailed }));
    const text = sent ? "" : field.value;
    if (text || texts.length) draft.write(name, { text, lines: texts });
    else draft.forget(name);
  }

  function onInput() {
    if (sent) addLine(sent, said.saving);
    sent = null;
    keepDraft();
  }

  /** Nothing waits for it: the next todo is sent while this one is on its way. */
  function submit() {
    const text = field.value.trim();
    if (!text || sent) return;
    sent = { text, hasFailed: false, element: null };
    keepDraft();
    field.select(); // The next todo is typed in its place.
    store(sent);
  }

  /** @param {Adding} one */
  async function store(one) {
    const problem = await insert(one.text).then(() => null, (reason) => reason);
    if (one === sent) {
      sent = null;
      if (!problem) field.value = "";
      else if (problem.status === noAnswer) toast(said.unanswered);
      else showProblem(problem);
    } else if (problem) {
      one.hasFailed = problem.status !== noAnswer;
      drawFailed(one, one.hasFailed ? said.failed : said.unanswered);
      if (one.hasFailed) showProblem(problem);
    } else {
      remove(one);
    }
    keepDraft();
  }

  function addLine(line, state) {
    line.element = h("li", {});
    lines.push(line);
    list.append(line.element);
    draw(line, state);
  }

  function remove(line) {
    const hadFocus = line.element.contains(document.activeElement);
    lines = lines.filter((one) => one !== line);
    line.element.remove();
    if (hadFocus) field.focus();
    keepDraft();
  }

  function again(line) {
    field.focus(); // The button leaves.
    line.hasFailed = false;
    draw(line, said.saving);
    keepDraft();
    store(line);
  }

  const draw = (line, state, ...actions) =>
    fill(line.element, h("span", { dir: "auto" }, line.text), " ",
      h("span", { class: "quiet-text" }, state), " ", actions);

  const drawFailed = (line, state) => draw(line, state,
    button({ class: "small", "aria-label": said.againOf(line.text), onclick: () => again(line) },
      words.editing.again), " ",
    button({ class: "small", "aria-label": said.giveUpOf(line.text), onclick: () => remove(line) },
      words.giveUp));

  for (const { text, hasFailed } of kept.lines) {
    const line = { text, hasFailed, element: null };
    addLine(line, "");
    drawFailed(line, hasFailed ? said.failed : said.unknown);
  }
  const element = h("div", {},
    form({ class: "add" }, submit, field, h("button", { class: "primary" }, words.add)), list);
  const own = {
    element,
    focus: () => field.focus(),
    /** The view is shown, again or for the first time. */
    use(label, insertNow) {
      insert = insertNow;
      field.placeholder = label;
      field.setAttribute("aria-label", label);
    },
  };
  return own;
}
