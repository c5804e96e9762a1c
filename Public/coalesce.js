// Many calls in a short time become one.

/** Gives a function that runs `work` soon, and once more if it was called during the run. */
export function coalesce(work, waitMilliseconds = 40) {
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
    if (timer === null) timer = setTimeout(run, waitMilliseconds);
  };
  return schedule;
}
