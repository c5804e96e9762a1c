// The plots of the overview: what each draws and which values it shows.

import { causeOf, causes, failedOf, percentiles, sentOf, sharesOf } from "./state.js";
import { bars, curve, plot } from "./plot.js";
import { overviewWords as said } from "./words.js";

const height = { plot: 112, ribbon: 52 };
const most = (steps, valueOf) => Math.max(0, ...steps.map((step) => valueOf(step) ?? 0));
const shown = (value, text) => (value === null ? said.noFigures : text(value));

/** The plots of figures; each tells `onPoint` the step under the pointer. */
export const figurePlots = (shared) => [depth, flow, answers, failures].map((make) => make(shared));

function depth(shared) {
  const atEnd = ({ sample }) => sample?.depth ?? null;
  const largest = ({ sample }) => sample?.largestDepth ?? null;
  return plot({
    ...shared, title: said.depth, unit: said.depthUnit, height: height.plot,
    top: (steps) => most(steps, largest),
    marks: (steps, frame) => [
      ...bars(steps, frame, (step) => [{ value: largest(step) ?? 0, kind: "shade" }]),
      ...curve(steps, frame, atEnd, "first"),
    ],
    values: (step) => [
      { name: said.atEnd, text: shown(atEnd(step), said.count), kind: "first" },
      { name: said.atMost, text: shown(largest(step), said.count), kind: "shade" },
    ],
  });
}

function flow(shared) {
  const parts = (step) => [
    { value: sentOf(step) ?? 0, kind: "first" }, { value: failedOf(step) ?? 0, kind: "second" },
  ];
  return plot({
    ...shared, title: said.flow, unit: said.aMinute, height: height.plot,
    top: (steps) => most(steps, (step) => (sentOf(step) ?? 0) + (failedOf(step) ?? 0)),
    marks: (steps, frame) => bars(steps, frame, parts),
    values: (step) => [
      { name: said.sent, text: shown(sentOf(step), said.rate), kind: "first" },
      { name: said.failed, text: shown(failedOf(step), said.rate), kind: "second" },
    ],
  });
}

function answers(shared) {
  const valueOf = (name) => ({ sample }) => sample?.[name] ?? null;
  const kinds = ["first", "third", "second"];
  return plot({
    ...shared, title: said.answers, unit: said.answersUnit, height: height.plot,
    top: (steps) => most(steps, valueOf("p99Ms")),
    marks: (steps, frame) =>
      percentiles.flatMap((name, index) => curve(steps, frame, valueOf(name), kinds[index])),
    values: (step) => percentiles.map((name, index) => ({
      name: said.percentiles[name], kind: kinds[index],
      text: step.sample ? said.answerTime(valueOf(name)(step)) : said.noFigures,
    })),
  });
}

function failures(shared) {
  const parts = (step) =>
    causes.map((cause) => ({ value: causeOf(cause)(step) ?? 0, kind: `cause ${cause}` }));
  return plot({
    ...shared, title: said.failures, unit: said.aMinute, height: height.plot,
    top: (steps) => most(steps, failedOf),
    marks: (steps, frame) => bars(steps, frame, parts),
    values(step) {
      if (!step.sample) return [{ name: "", text: said.noFigures }];
      const found = parts(step).map(({ value, kind }, index) => ({
        name: said.causes[causes[index]], text: said.rate(value), kind, value,
      })).filter(({ value }) => value > 0);
      return found.length ? found : [{ name: "", text: said.noFailures }];
    },
  });
}

/** The ribbon: how the backend could be reached. */
export function ribbon(shared) {
  return plot({
    ...shared, title: said.backend, unit: null, height: height.ribbon, top: null,
    marks: (steps, frame) => bars(steps, { ...frame, y: (share) => frame.floor - frame.inner * share },
      (step) => sharesOf(step).map(({ state, share }) => ({ value: share, kind: `reach ${state}` }))),
    values(step) {
      const shares = sharesOf(step);
      if (!shares.length) return [{ name: "", text: said.noFigures }];
      return shares.map(({ state, share }) =>
        ({ name: said.states[state], text: said.percent(share), kind: `reach ${state}` }));
    },
  });
}

/** The shares of a step in words. */
export const reachText = (step) =>
  sharesOf(step).map(({ state, share }) => `${said.states[state]} ${said.percent(share)}`).join(", ");
