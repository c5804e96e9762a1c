// Elements without markup strings: every text becomes a text node, so nothing a row holds can run.

/** Makes an element. `properties`: class, attributes, and `on…` listeners; false and null are left out. */
export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === false || value === null || value === undefined) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "value" || name === "checked" || name === "disabled") element[name] = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  append(element, children);
  return element;
}

function append(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : String(child));
  }
}

/** Replaces what is inside `element`. */
export function fill(element, ...children) {
  element.replaceChildren();
  append(element, children);
  return element;
}

/**
 * Brings a list in line with `models`, keyed: rows that stay keep their element, their focus and
 * their half-typed text. `make(model)` gives `{element, update(model)}`.
 */
export function keyed(container, models, keyOf, make) {
  const rows = (container.understudyRows ??= new Map());
  const wanted = new Set(models.map(keyOf));
  for (const [key, row] of rows) {
    if (wanted.has(key)) continue;
    row.element.remove();
    rows.delete(key);
  }
  let previous = null;
  for (const model of models) {
    const key = keyOf(model);
    let row = rows.get(key);
    if (row) row.update(model);
    else rows.set(key, (row = make(model)));
    const place = previous ? previous.nextSibling : container.firstChild;
    if (place !== row.element) container.insertBefore(row.element, place);
    previous = row.element;
  }
}

const isBeside = matchMedia("(min-width: 60rem)"); // as in views.css

/** Gives the focus to the heading of a card; beside its list it is in sight already, below it is gone to. */
export function focusCard(card) {
  card.querySelector("h2")?.focus({ preventScroll: isBeside.matches });
}

/** Says a change of meaning to screen readers, once. */
export function announce(sentence) {
  const region = document.getElementById("announcer");
  region.textContent = "";
  requestAnimationFrame(() => (region.textContent = sentence));
}

let toastTimer;
let lastAction = null;

/** Takes back the last thing that offered it, whether its sentence still shows or not. */
export function undoLast() {
  const action = lastAction;
  lastAction = null;
  document.getElementById("toast").hidden = true;
  action?.run();
  return action !== null;
}

/** Shows a sentence for some seconds, with at most one action, for example Undo. */
export function toast(sentence, action) {
  const box = document.getElementById("toast");
  clearTimeout(toastTimer);
  const hide = () => (box.hidden = true);
  if (action) lastAction = action;
  fill(box, h("span", {}, sentence), action && h("button", { type: "button", onclick: undoLast }, action.label));
  box.hidden = false;
  announce(sentence);
  toastTimer = setTimeout(hide, 8000);
}

/** Runs `work` at most once in a while: many calls at once become one. */
export function coalesce(work, waitMilliseconds = 40) {
  let timer = null;
  let running = false;
  let again = false;
  const run = async () => {
    timer = null;
    if (running) return void (again = true);
    running = true;
    try {
      await work();
    } finally {
      running = false;
      if (again) (again = false), schedule();
    }
  };
  const schedule = () => (timer ??= setTimeout(run, waitMilliseconds));
  return schedule;
}
