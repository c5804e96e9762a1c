// Many calls in a short time become one.

/** Gives a function that runs `work`, and does nothing while that goes on: a double click saves once. */
export function oneAtATime(work) {
  let isRunning = false;
  return async () => {
    if (isRunning) return;
    isRunning = true;
    try {
      await work();
    } finally {
      isRunning = false;
    }
  };
}

/**
 * Gives a function that runs `work` soon, and once more if it was called during the run. Two runs begin at
 * least `restMilliseconds` after one another.
 */
export function coalesce(work, waitMilliseconds = 40, restMilliseconds = 0) {
  let beganAt = -Infinity;
  let timer = null;
  let running = false;
  let again = false;
  const run = async () => {
    timer = null;
    if (running) {
      again = true;
      return;
    }
    running = true;
    beganAt = performance.now();
    try {
      await work();
    } finally {
      running = false;
      if (again) {
        again = false;
        schedule();
      }
    }
  };
  const schedule = () => {
    const rest = beganAt + restMilliseconds - performance.now();
    if (timer === null) timer = setTimeout(run, Math.max(waitMilliseconds, rest));
  };
  return schedule;
}

/**
 * How many requests a page may make, so that a busy tab stays under two a second. What a person asks for is
 * counted but never waits; what events ask for waits until there is enough left. A view and the line at the
 * top ask for three answers together.
 */
const allowance = { aSecond: 1.6, most: 6, needed: 3, least: -2 };
let left = allowance.most;
let countedAt = performance.now();

const refillAllowance = () => {
  const now = performance.now();
  left = Math.min(allowance.most, left + (allowance.aSecond * (now - countedAt)) / 1000);
  countedAt = now;
};

/** Counts a request of this page. */
export function countRequest() {
  refillAllowance();
  left = Math.max(allowance.least, left - 1);
}

/**
 * Gives a function that passes events on: at once while the page has asked for little. Else they are held,
 * equal ones once, and passed on together as soon as it may ask again.
 * @param {(kind: string, event: EventData) => void} deliver
 */
export function paced(deliver) {
  /** @type {Map<string, [string, EventData]>} */
  const held = new Map();
  let isWaiting = false;

  function pass() {
    refillAllowance();
    const missing = allowance.needed - left;
    isWaiting = missing > 0;
    if (isWaiting) {
      setTimeout(pass, Math.ceil((1000 * missing) / allowance.aSecond));
      return;
    }
    const news = [...held.values()];
    held.clear();
    for (const [kind, event] of news) deliver(kind, event);
  }

  /** @param {EventData} event */
  return (kind, event) => {
    held.set(`${kind} ${event.table}`, [kind, event]);
    if (!isWaiting) pass();
  };
}
