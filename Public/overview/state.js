// What the overview knows: steps of time with the figures of each. Each function takes values and gives new
// ones.

/** How much time is shown, in steps of how long; both in seconds. */
export const ranges = {
  hour: { seconds: 3600, step: 60 },
  day: { seconds: 86_400, step: 900 },
  week: { seconds: 604_800, step: 3600 },
};

export const causes = ["conflict", "refused", "signIn", "noAnswer", "unavailable", "serverError", "unusable"];
export const percentiles = ["p50Ms", "p95Ms", "p99Ms"];

/** The states of the backend, the best first. */
const states = [
  "online", "degraded", "offline", "signedOut", "portal", "notTables", "notAsked", "switchedOff",
];

/**
 * The steps of a range, the oldest first; `sample` is null where Understudy did not run. The latest sample
 * has the present minute, so it is the end.
 * @param {Sample[]} samples
 * @returns {OverviewStep[]}
 */
export function stepsOf(samples, { seconds, step }, now = Date.now()) {
  const latest = samples.at(-1);
  if (!latest) return [];
  const length = step * 1000;
  const count = seconds / step;
  const end = Date.parse(latest.at);
  const known = new Map(samples.map((sample) => [Date.parse(sample.at), sample]));
  return Array.from({ length: count }, (_, index) => {
    const at = end - (count - 1 - index) * length;
    // The present step is not over yet.
    const isOver = index < count - 1;
    const minutes = isOver ? step / 60 : Math.max(1, Math.min(step / 60, (now - at) / 60_000));
    return { at, until: at + length, minutes, sample: known.get(at) ?? null };
  });
}

/** @param {OverviewStep} step */
export const sentOf = ({ sample, minutes }) => (sample ? sample.applied / minutes : null);

/** @param {OverviewStep} step */
export const failedOf = ({ sample, minutes }) =>
  sample && sample.failures.reduce((sum, { count }) => sum + count, 0) / minutes;

/** How many requests failed for a cause, a minute. */
export const causeOf = (cause) => ({ sample, minutes }) =>
  sample && (sample.failures.find((one) => one.cause === cause)?.count ?? 0) / minutes;

/**
 * The share of each state of the backend in a step, the best first.
 * @param {OverviewStep} step
 */
export function sharesOf({ sample }) {
  const times = new Map(sample?.reach.map(({ state, ms }) => [String(state), ms]));
  const all = [...times.values()].reduce((sum, ms) => sum + ms, 0);
  return states.flatMap((state) => {
    const ms = times.get(state);
    return ms ? [{ state, share: ms / all }] : [];
  });
}

/**
 * The runs of the shown time by place: a place is at least `placePixels` of `width` wide.
 * @param {Run[]} runs
 * @param {OverviewStep[]} steps
 * @returns {RunPlace[]}
 */
export function placesOf(runs, steps, width, placePixels) {
  const [first, last] = [steps[0], steps.at(-1)];
  if (!first || !last) return [];
  const count = Math.max(1, Math.floor(width / placePixels));
  const places = new Map();
  for (const run of runs) { // The latest first.
    const share = (Date.parse(run.startedAt) - first.at) / (last.until - first.at);
    if (share < 0 || share >= 1) continue;
    const place = Math.floor(share * count);
    const known = places.get(place) ?? [];
    places.set(place, [...known, run]);
  }
  return [...places].map(([place, runs]) => {
    const shown = runs.find((run) => run.state !== "complete") ?? runs[0];
    return { share: (place + 0.5) / count, run: shown, count: runs.length };
  }).reverse();
}

/** The nearest number of the form 2, 4, 6 or 10 times a power of ten that is not smaller. */
export function niceTop(value) {
  const power = 10 ** Math.floor(Math.log10(Math.max(value, 1)));
  return [2, 4, 6, 10, 20].map((digit) => digit * power).find((top) => top >= value) ?? value;
}
