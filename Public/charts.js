// Queue depth, push latency and results over time, drawn from the minute samples.

import { h } from "./dom.js";
import { clockTime, milliseconds, number } from "./formats.js";
import { words } from "./words.js";

const size = { width: 320, height: 90, pad: 4 };
const minutesMost = 180;

function svg(tag, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** The three charts, or nothing while there are no samples. */
export function charts(samples) {
  const shown = samples.slice(-minutesMost);
  if (shown.length === 0) return h("p", { class: "quiet-text" }, words.noSamples);
  const latest = shown.at(-1);
  const most = (name) => Math.max(0, ...shown.map((sample) => sample[name] ?? 0));
  const sum = (name) => shown.reduce((total, sample) => total + sample[name], 0);
  return [
    figure(words.chartDepth, words.chartNow(number(latest.depth), number(most("depth"))), shown, [line(shown, "depth")]),
    figure(words.chartLatency, words.chartMost(milliseconds(most("latencyMs"))), shown, [line(shown, "latencyMs")]),
    figure(words.chartResults, words.chartSums(sum("succeeded"), sum("failed")), shown, bars(shown)),
  ];
}

function figure(title, text, samples, marks) {
  const { width, height } = size;
  const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${title}: ${text}`, preserveAspectRatio: "none" }, ...marks);
  const span = h("div", { class: "axis" }, h("span", {}, clockTime(samples[0].at)), h("span", {}, clockTime(samples.at(-1).at)));
  return h("figure", { class: "card chart" }, h("figcaption", {}, h("strong", {}, title), h("span", { class: "quiet-text" }, text)), picture, span);
}

/** Where a value of the sample at `index` is drawn. */
function scale(samples, top) {
  const { width, height, pad } = size;
  const step = (width - 2 * pad) / Math.max(1, samples.length - 1);
  return { x: (index) => pad + index * step, y: (value) => height - pad - ((height - 2 * pad) * value) / Math.max(1, top), step };
}

function line(samples, name) {
  const { x, y } = scale(samples, Math.max(...samples.map((sample) => sample[name] ?? 0)));
  const points = samples.flatMap((sample, index) => (sample[name] === null ? [] : [[x(index), y(sample[name])]]));
  if (points.length === 1) return svg("circle", { class: "dot", cx: points[0][0], cy: points[0][1], r: 3 });
  return svg("polyline", { class: "curve", points: points.map((point) => point.map((at) => at.toFixed(1)).join(",")).join(" ") });
}

/** What went well stands on the ground, what failed on top of it. */
function bars(samples) {
  const { x, y, step } = scale(samples, Math.max(...samples.map((sample) => sample.succeeded + sample.failed)));
  const wide = Math.max(1.5, Math.min(12, step * 0.8));
  return samples.flatMap((sample, index) => {
    const bar = (from, to, kind) => svg("rect", { class: kind, x: x(index) - wide / 2, y: y(to), width: wide, height: y(from) - y(to) });
    const all = sample.succeeded + sample.failed;
    return [sample.succeeded && bar(0, sample.succeeded, "good"), sample.failed && bar(sample.succeeded, all, "bad")].filter(Boolean);
  });
}
