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

const paceMilliseconds = 600; // A view that asks again at this pace stays under two requests a second.
const busyEvents = 40; // More than so many within the pace are a busy time.

/**
 * Gives a function that passes events on: at once while no run is under way and events are few. Else those
 * within the pace are passed on together at its end, equal ones once.
 * @param {(kind: string, event: EventData) => void} deliver
 * @param {() => boolean} isRunning
 */
export function paced(deliver, isRunning) {
  /** @type {Map<string, [string, EventData]>} */
  let held = new Map();
  let isResting = false;
  let count = 0; // Events since the pace began.
  let beganAt = -Infinity;
  let wasBusy = false; // Whether the pace before was a busy time.

  function note() {
    const passed = performance.now() - beganAt;
    if (passed > paceMilliseconds) {
      wasBusy = count > busyEvents && passed < 2 * paceMilliseconds;
      [count, beganAt] = [0, performance.now()];
    }
    count++;
  }

  function pass(events) {
    for (const [kind, event] of events) deliver(kind, event);
    isResting = isRunning() || wasBusy || count > busyEvents;
    if (isResting) setTimeout(passHeld, paceMilliseconds);
  }

  function passHeld() {
    isResting = false;
    const news = [...held.values()];
    held = new Map();
    if (news.length) pass(news);
  }

  /** @param {EventData} event */
  return (kind, event) => {
    note();
    if (isResting) held.set(`${kind} ${event.table}`, [kind, event]);
    else pass([[kind, event]]);
  };
}
