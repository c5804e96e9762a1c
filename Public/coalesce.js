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
