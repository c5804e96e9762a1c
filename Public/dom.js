// Makes elements without markup strings: every text becomes a text node, so no value of a row runs as markup.

/**
 * Makes an element. `properties` are its class, attributes and `on…` listeners, `children` nodes, texts and
 * lists of them; false and null are left out.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Record<string, any>} properties
 * @param {...any} children
 */
export function h(tag, properties, ...children) {
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

/** A button that does not send a form. */
export const button = (properties, ...children) => h("button", { type: "button", ...properties }, children);

/** A click handler without the second click of a double click: what the first one has shown may be there. */
export const onFirstClick = (act) => (event) => event.detail < 2 && act();

/**
 * The button that sends a form. The second click of a double click does nothing: the first may have shown a
 * question.
 */
export const saveButton = (label) =>
  h("button", { class: "primary", onclick: (event) => event.detail > 1 && event.preventDefault() }, label);

/** A form; `submit()` is called in place of the browser's own sending. */
export function form(properties, submit, ...children) {
  const onsubmit = (event) => {
    event.preventDefault();
    submit();
  };
  return h("form", { ...properties, onsubmit }, children);
}

export const facts = (pairs, className = "facts") =>
  h("dl", { class: className },
    pairs.map(([name, value]) => [h("dt", {}, name), h("dd", { dir: "auto" }, value)]));

/** A field with its name above it. */
export const column = (name, field) => h("label", { class: "column" }, h("span", {}, name), field);

/** How many lines a text takes in a field with so many letters a line. */
export const linesOf = (text, lettersOfLine) =>
  Math.max(1, text.split("\n").length, Math.ceil(text.length / lettersOfLine));

/** The choices of a `select`: pairs of value and label. */
export const options = (pairs) => pairs.map(([value, label]) => h("option", { value }, label));

/** Texts with dots between them; empty ones are left out. */
export const joined = (...texts) => texts.filter(Boolean).join(" · ");

export const note = (...children) => h("p", { class: "quiet-text" }, children);

function append(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : String(child));
  }
}

export function fill(element, ...children) {
  element.replaceChildren();
  append(element, children);
}

/** The same for what a person may use meanwhile: the child with the same `data-key` keeps the focus. */
export function refill(element, ...children) {
  const focused = find(element, "[data-key]:focus")?.dataset.key;
  fill(element, children);
  if (focused) findAll(element, "[data-key]").find((one) => one.dataset.key === focused)?.focus();
}

/** @returns {HTMLElement} */
export const byId = (id) => /** @type {any} */ (document.getElementById(id));

/** @returns {HTMLElement | null} */
export const find = (root, selector) => root?.querySelector(selector) ?? null;

/** @returns {HTMLElement[]} */
export const findAll = (root, selector) => [...root.querySelectorAll(selector)];

/**
 * Brings a list in line with `models`; a row that stays keeps its element. `make(model)` gives
 * `{element, update(model)}`.
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

/** Gives the focus to the heading of a card. Where the card is below its list, the page scrolls to it. */
export function focusCard(card) {
  find(card, "h2")?.focus({ preventScroll: isBeside.matches });
}
