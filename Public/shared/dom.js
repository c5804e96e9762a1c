// Makes elements without markup strings: every text becomes a text node, so no value of a row runs as markup.

/**
 * Makes an element. `properties` are its class, attributes, `style` and `on…` listeners, `children` nodes,
 * texts and lists of them; false and null are left out.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Record<string, any>} properties
 * @param {...any} children
 */
export function h(tag, properties, ...children) {
  const element = document.createElement(tag);
  element.append(...nodesOf(children));
  give(element, properties); // The value of a select is one of its children.
  return element;
}

/**
 * What was given to each element, so that another drawing of it can take its place.
 * @type {WeakMap<Element, Record<string, any>>}
 */
const given = new WeakMap();
const isAbsent = (value) => value === false || value === null || value === undefined;

/** Gives an element its properties. Of an earlier drawing only what differs from it is changed. */
function give(element, properties) {
  const before = given.get(element) ?? {};
  given.set(element, properties);
  for (const name of Object.keys({ ...before, ...properties })) {
    const [was, now] = [before[name], properties[name]];
    if (name.startsWith("on")) {
      if (isAbsent(was) && !isAbsent(now)) element.addEventListener(name.slice(2), callGiven);
    } else if (name === "value" || name === "checked" || name === "disabled") {
      const value = isAbsent(now) ? (name === "value" ? "" : false) : now;
      if (element[name] !== value) element[name] = value;
    } else if (name === "style") Object.assign(element.style, now);
    else if (was === now) continue;
    else if (isAbsent(now)) element.removeAttribute(name);
    else element.setAttribute(name, now === true ? "" : String(now));
  }
}

/** The listener of all events: calls what the element was given last. */
function callGiven(event) {
  const listener = given.get(event.currentTarget)?.[`on${event.type}`];
  if (listener) listener(event);
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

/** Makes a field for text as high as its lines, of so many letters each, up to so many lines. */
export function fit(field, lettersOfLine, linesMost) {
  const { value } = field;
  const lines = Math.max(1, value.split("\n").length, Math.ceil(value.length / lettersOfLine));
  field.rows = Math.min(linesMost, lines);
}

/** The choices of a `select`: pairs of value and label. */
export const options = (pairs) => pairs.map(([value, label]) => h("option", { value }, label));

/** Draws the choices of a select, unless a person uses it. A chosen value that is gone stays a choice. */
export function drawChoice(select, pairs, chosen) {
  if (document.activeElement !== select) fill(select, options(pairs));
  setChoice(select, chosen);
}

export function setChoice(select, value) {
  if (![...select.options].some((one) => one.value === value)) select.append(...options([[value, value]]));
  select.value = value;
}

/** Texts with dots between them; empty ones are left out. */
export const joined = (...texts) => texts.filter(Boolean).join(" · ");

export const note = (...children) => h("p", { class: "quiet-text" }, children);

const nodesOf = (children) => children.flat(Infinity).filter((child) => !isAbsent(child))
  .map((child) => (child instanceof Node ? child : document.createTextNode(String(child))));

/** Replaces the children of an element. */
export function fill(element, ...children) {
  element.replaceChildren(...nodesOf(children));
}

/**
 * The same for what a person may point at, select or use meanwhile: what stays is not replaced.
 * 1. A child that is in `element` already stays as it is.
 * 2. Else the child takes the place of the one with the same `data-key`; without a key, of the next one of
 *    its tag. That one gets the properties, listeners and children which differ.
 * 3. Children that have no place are inserted, and those of before whose place nothing took are removed.
 * So the listeners of `children` must not name elements among them: those may never be in the page.
 */
export function refill(element, ...children) {
  patch(element, nodesOf(children));
}

/**
 * @param {Element} element
 * @param {Node[]} wanted
 */
function patch(element, wanted) {
  const old = new Set([...element.childNodes].filter((one) => !wanted.includes(one)));
  const children = wanted.map((child) => {
    if (child.parentNode === element) return child;
    const place = [...old].find((one) => canBecome(one, child));
    if (!place) return child;
    old.delete(place);
    become(place, child);
    return place;
  });
  for (const one of old) one.remove();
  let next = element.firstChild;
  for (const child of children)
    if (child === next) next = next.nextSibling;
    else insert(element, child, next);
}

const canBecome = (node, other) => node.nodeName === other.nodeName && (node instanceof Text ||
  (given.has(node) && given.has(other) && node.dataset.key === other.dataset.key));

/** Gives a node the text, or the properties and children, of another. */
function become(node, other) {
  if (node instanceof Text) {
    if (node.data !== other.data) node.data = other.data;
    return;
  }
  patch(node, [...other.childNodes]);
  give(node, given.get(other));
}

/** Moves an element so that it keeps the focus. */
export function insert(parent, element, before) {
  const canMove = element.isConnected && parent.isConnected && parent.moveBefore;
  if (canMove) return parent.moveBefore(element, before);
  const focused = element.contains(document.activeElement) && document.activeElement;
  parent.insertBefore(element, before);
  if (focused) focused.focus({ preventScroll: true });
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
    if (place !== row.element) insert(container, row.element, place);
    previous = row.element;
  }
}

/** Draws a list. Where the row with the focus has gone, the first one gets it, or `field` without any. */
export function keepFocus(list, field, draw) {
  const had = list.contains(document.activeElement);
  draw();
  if (!had || document.activeElement !== document.body) return;
  const row = find(list, "[data-row]");
  (find(row, "[data-open]") ?? row ?? field).focus();
}

const isBeside = matchMedia("(min-width: 60rem)"); // as in views.css

/** Gives the focus to the heading of a card. Where the card is below its list, the page scrolls to it. */
export function focusCard(card) {
  find(card, "h2")?.focus({ preventScroll: isBeside.matches });
}
