// Queue depth, push latency and results over time, drawn from the minute samples.

import { h, note } from "./dom.js";
import { clockTime, milliseconds, number } from "./formats.js";
import { words } from "./words.js";

const size = { width: 320, height: 90, pad: 4 };
const minutesMost = 180;

function svg(tag, attributes, children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...(children ?? []));
  return element;
}

/** @param {Sample[]} samples */
export function charts(samples) {
  const shown = samples.slice(-minutesMost);
  const latest = shown.at(-1);
  if (!latest) return note(words.noSamples);
  const most = (name) => Math.max(0, ...shown.map((sample) => sample[name] ?? 0));
  const sum = (name) => shown.reduce((total, sample) => total + sample[name], 0);
  const depth = words.chartNow(number(latest.depth), number(most("depth")));
  const latency = words.chartMost(milliseconds(most("latencyMs")));
  const results = words.chartSums(sum("succeeded"), sum("failed"));
  return [
    figure(words.chartDepth, depth, shown, [line(shown, "depth")]),
    figure(words.chartLatency, latency, shown, [line(shown, "latencyMs")]),
    figure(words.chartResults, results, shown, bars(shown)),
  ];
}

function figure(title, text, samples, marks) {
  const { width, height } = size;
  const [first, last] = [samples[0], samples.at(-1)];
  return h("figure", { class: "card chart" },
    h("figcaption", {}, h("strong", {}, title), h("span", { class: "quiet-text" }, text)),
    svg("svg", {
      viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${title}: ${text}`,
      preserveAspectRatio: "none",
    }, marks),
    h("div", { class: "axis" }, h("span", {}, clockTime(first.at)), h("span", {}, clockTime(last.at))));
}

function scale(samples, top) {
  const { width, height, pad } = size;
  const step = (width - 2 * pad) / Math.max(1, samples.length - 1);
  return {
    x: (index) => pad + index * step,
    y: (value) => height - pad - ((height - 2 * pad) * value) / Math.max(1, top),
    step,
  };
}

/** A curve of the values; a single value is a dot, and a missing one is left out. */
function line(samples, name) {
  const { x, y } = scale(samples, Math.max(...samples.map((sample) => sample[name] ?? 0)));
  const points = samples.flatMap((sample, index) =>
    sample[name] === null ? [] : [[x(index), y(sample[name])]]);
  if (points.length === 1) return svg("circle", { class: "dot", cx: points[0][0], cy: points[0][1], r: 3 });
  const path = points.map((point) => point.map((at) => at.toFixed(1)).join(",")).join(" ");
  return svg("polyline", { class: "curve", points: path });
}

/** A bar for each minute: the requests that succeeded at the bottom, those that failed on top of them. */
function bars(samples) {
  const { x, y, step } = scale(samples, Math.max(...samples.map((one) => one.succeeded + one.failed)));
  const width = Math.max(1.5, Math.min(12, step * 0.8));
  const bar = (index, from, to, kind) =>
    svg("rect", { class: kind, x: x(index) - width / 2, y: y(to), width, height: y(from) - y(to) });
  return samples.flatMap(({ succeeded, failed }, index) => [
    ...(succeeded ? [bar(index, 0, succeeded, "good")] : []),
    ...(failed ? [bar(index, succeeded, succeeded + failed, "bad")] : []),
  ]);
}
