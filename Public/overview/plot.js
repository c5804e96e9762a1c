// A plot over time: axes, what is drawn in between, and the values under the pointer. It is as wide as its
// place, so that its letters keep their size. The arrow keys move the pointer.

import { fill, h } from "../shared/dom.js";
import { clockTime, shortNumber, weekday } from "../shared/formats.js";
import { niceTop } from "./state.js";

const size = { left: 44, right: 8, top: 8, bottom: 20 };
const tickPixels = 88; // What the time at a tick needs, with the space beside it.
const pageSteps = 10;

/** Makes an SVG element. */
function svg(tag, attributes, children = []) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  element.append(...children);
  return element;
}

/**
 * A plot. `marks` draws between the axes, `values` gives the names and values of a step, `onPoint` is told
 * the step under the pointer, or null.
 * @param {PlotParts} parts
 */
export function plot({ title, unit, height, top, marks, values, onPoint, timeOf }) {
  const key = h("ul", { class: "plot-key" });
  const area = h("div", {
    class: "plot-area", role: "slider", tabindex: "0", "aria-label": unit ? `${title}, ${unit}` : title,
    "aria-valuemin": "0", "aria-valuemax": "0", "aria-valuenow": "0",
  });
  area.style.height = `${height}px`;
  const element = h("figure", { class: "plot" },
    h("figcaption", {}, h("strong", {}, title), unit && h("span", { class: "unit" }, unit)), key, area);
  /** @type {OverviewStep[]} */
  let steps = [];
  let pointed = 0;
  let pointer = svg("line", { class: "pointer" });

  function draw(shown) {
    steps = shown;
    pointed = steps.length - 1;
    area.setAttribute("aria-valuemax", String(Math.max(0, pointed)));
    paint();
  }

  function paint() {
    const width = area.clientWidth;
    if (!width || !steps.length) return;
    const frame = frameOf(width, height, steps.length, top ? niceTop(top(steps)) : null);
    pointer = svg("line", { class: "pointer", y1: size.top, y2: height - size.bottom, x1: -9, x2: -9 });
    fill(area, svg("svg", { width, height, "aria-hidden": "true", focusable: "false" }, [
      ...gaps(steps, frame), ...valueAxis(frame), ...timeAxis(steps, frame), ...marks(steps, frame), pointer,
    ]));
  }

  /** Shows the values of a step; null for the latest. */
  function point(index) {
    const at = index ?? steps.length - 1;
    const step = steps[at];
    if (!step) return;
    pointed = at;
    const x = index === null ? -9 : frameOf(area.clientWidth, height, steps.length, null).center(at);
    pointer.setAttribute("x1", String(x));
    pointer.setAttribute("x2", String(x));
    const shown = values(step);
    fill(key, shown.map(({ name, text, kind }) =>
      h("li", {}, kind && h("i", { class: kind, "aria-hidden": "true" }), name, " ", h("b", {}, text))));
    area.setAttribute("aria-valuenow", String(at));
    const texts = shown.map(({ name, text }) => `${name} ${text}`.trim()).join(", ");
    area.setAttribute("aria-valuetext", `${timeOf(step)}: ${texts}`);
  }

  const moves = {
    ArrowLeft: () => pointed - 1,
    ArrowRight: () => pointed + 1,
    ArrowDown: () => pointed - 1,
    ArrowUp: () => pointed + 1,
    PageDown: () => pointed - pageSteps,
    PageUp: () => pointed + pageSteps,
    Home: () => 0,
    End: () => steps.length - 1,
  };
  area.addEventListener("keydown", (event) => {
    const move = moves[event.key];
    if (!move || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    onPoint(Math.min(Math.max(move(), 0), steps.length - 1));
  });
  const follow = (event) => {
    const { left } = area.getBoundingClientRect();
    onPoint(frameOf(area.clientWidth, height, steps.length, null).index(event.clientX - left));
  };
  area.addEventListener("pointermove", follow);
  area.addEventListener("pointerdown", follow);
  area.addEventListener("pointerleave", () => onPoint(null));
  const observer = new ResizeObserver(paint);
  observer.observe(area);
  return { element, draw, point, close: () => observer.disconnect() };
}

/** Where steps and values are in a plot. `top` is the highest value; null in a plot without values. */
function frameOf(width, height, count, top) {
  const band = Math.max(0, width - size.left - size.right) / Math.max(1, count);
  const inner = height - size.top - size.bottom;
  return {
    width, height, band, top, inner,
    floor: height - size.bottom,
    x: (index) => size.left + index * band,
    center: (index) => size.left + (index + 0.5) * band,
    y: (value) => height - size.bottom - (inner * value) / (top || 1),
    index: (x) => Math.min(Math.max(Math.floor((x - size.left) / (band || 1)), 0), count - 1),
  };
}

/** Steps without figures, as one grey field for each stretch of them. */
function gaps(steps, frame) {
  const found = [];
  steps.forEach(({ sample }, index) => {
    if (sample) return;
    const last = found.at(-1);
    if (last?.to === index) last.to++;
    else found.push({ from: index, to: index + 1 });
  });
  return found.map(({ from, to }) => svg("rect", {
    class: "gap", x: frame.x(from), y: size.top, width: (to - from) * frame.band, height: frame.inner,
  }));
}

function valueAxis(frame) {
  if (!frame.top) return [];
  return [0, frame.top / 2, frame.top].flatMap((value) => [
    svg("line", {
      class: "rule", x1: size.left, x2: frame.width - size.right, y1: frame.y(value), y2: frame.y(value),
    }),
    svg("text", { class: "tick", x: size.left - 6, y: frame.y(value) + 4, "text-anchor": "end" },
      [shortNumber(value)]),
  ]);
}

/** A tick where a new quarter of an hour, of a day, or a new day begins, unless it would overlap another. */
function timeAxis(steps, frame) {
  const ticks = [];
  let free = size.left;
  const length = steps[0] ? steps[0].until - steps[0].at : 0;
  const keyOf = (at) => {
    const date = new Date(at);
    if (length >= 3_600_000) return date.getDate();
    if (length >= 900_000) return Math.floor(date.getHours() / 6);
    return Math.floor(date.getMinutes() / 15);
  };
  steps.forEach(({ at }, index) => {
    const x = frame.x(index);
    if (index === 0 || keyOf(at) === keyOf(steps[index - 1].at)) return;
    if (x < free || x + tickPixels / 2 > frame.width) return;
    free = x + tickPixels;
    ticks.push(
      svg("line", { class: "mark", x1: x, x2: x, y1: frame.floor, y2: frame.floor + 4 }),
      svg("text", { class: "tick", x, y: frame.floor + 16, "text-anchor": "middle" },
        [length >= 3_600_000 ? weekday(at) : clockTime(at)]));
  });
  return ticks;
}

/** A curve of a value over time, broken where there is none. A value alone is a dot. */
export function curve(steps, frame, valueOf, kind) {
  const parts = [];
  steps.forEach((step, index) => {
    const value = valueOf(step);
    if (value === null) return;
    const last = parts.at(-1);
    const point = [frame.center(index), frame.y(value)];
    if (last?.end === index - 1) {
      last.points.push(point);
      last.end = index;
    } else parts.push({ end: index, points: [point] });
  });
  return parts.map(({ points }) => points.length === 1
    ? svg("circle", { class: `dot ${kind}`, cx: points[0][0], cy: points[0][1], r: 2 })
    : svg("polyline", {
      class: `curve ${kind}`, points: points.map((at) => at.map((one) => one.toFixed(1)).join(",")).join(" "),
    }));
}

/** A bar for each step: its parts on top of one another, each with a class. */
export function bars(steps, frame, partsOf) {
  const width = Math.max(1, frame.band - 1);
  return steps.flatMap((step, index) => {
    let below = 0;
    return partsOf(step).filter(({ value }) => value > 0).map(({ value, kind }) => {
      const y = frame.y(below + value);
      const height = Math.max(1, frame.y(below) - y);
      below += value;
      return svg("rect", { class: kind, x: frame.x(index) + (frame.band - width) / 2, y, width, height });
    });
  });
}
