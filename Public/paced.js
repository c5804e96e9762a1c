// Events of a busy time, at a pace at which a page can be read: a view is told at most twice a second.

const paceMilliseconds = 500;
const busyEvents = 40; // So many within the pace are a busy time; fewer are passed on at once.

/**
 * Gives a function that passes events on: at once while they are few. In a busy time those within the pace
 * are passed on together at its end, equal ones once.
 * @param {(kind: string, event: EventData) => void} deliver
 */
export function paced(deliver) {
  /** @type {Map<string, [string, EventData]>} */
  let held = new Map();
  let isResting = false;
  let count = 0; // Events since the pace began.
  let beganAt = -Infinity;
  let wasBusy = false; // The pace before was.

  function pass(events) {
    isResting = true;
    for (const [kind, event] of events) deliver(kind, event);
    setTimeout(() => {
      isResting = false;
      const news = [...held.values()];
      held = new Map();
      if (news.length) pass(news);
    }, paceMilliseconds);
  }

  /** @param {EventData} event */
  return (kind, event) => {
    const now = performance.now();
    if (now - beganAt > paceMilliseconds) {
      wasBusy = count > busyEvents && now - beganAt < 2 * paceMilliseconds;
      [count, beganAt] = [0, now];
    }
    count++;
    if (count <= busyEvents && !wasBusy && held.size === 0) deliver(kind, event);
    else if (isResting) held.set(`${kind} ${event.table}`, [kind, event]);
    else pass([[kind, event]]);
  };
}
