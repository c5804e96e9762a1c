// Every English sentence of the dashboard, in one place, ready for translation.

const locale = navigator.languages;
const whole = new Intl.NumberFormat(locale);
const clock = new Intl.DateTimeFormat(locale, { timeStyle: "medium" });
const day = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "medium" });
const relative = new Intl.RelativeTimeFormat(locale, { numeric: "auto" });

export const number = (value) => whole.format(value ?? 0);
const ofTotal = (total) => (total === null || total === undefined ? "" : ` of ${number(total)}`);
const plural = (count, one, many) => (count === 1 ? one : many.replace("#", number(count)));

/** A time of day when it is today, else with its date. */
export function time(text) {
  if (!text) return "";
  const date = new Date(text);
  return date.toDateString() === new Date().toDateString() ? clock.format(date) : day.format(date);
}

/** "in 12 seconds", "3 minutes ago". */
export function distance(text, now = Date.now()) {
  if (!text) return "";
  const seconds = Math.round((new Date(text).getTime() - now) / 1000);
  const size = Math.abs(seconds);
  if (size < 60) return relative.format(seconds, "second");
  if (size < 3600) return relative.format(Math.round(seconds / 60), "minute");
  if (size < 86400) return relative.format(Math.round(seconds / 3600), "hour");
  return relative.format(Math.round(seconds / 86400), "day");
}

export const views = { todos: "Todos", conflicts: "Conflicts", queue: "Queue", history: "History" };

export const words = {
  add: "Add",
  newTodo: "What needs doing?",
  showCompleted: "Show completed",
  noTodos: "Nothing to do. Add the first todo above; it is kept even with the backend away.",
  noneOpen: "Everything is done. Completed todos are hidden.",
  todosLeft: (count) => plural(count, "1 todo left", "# todos left"),
  todoText: "Todo text",
  editTodo: (text) => `Edit “${text}”`,
  deleteTodo: (text) => `Delete “${text}”`,
  completeTodo: (text) => `Complete “${text}”`,
  deleted: (text) => `Deleted “${text}”.`,
  undo: "Undo",
  save: "Save",
  cancel: "Cancel",
  more: "Show more",
  untitled: "(no text)",
  loading: "Loading…",
  syncNow: "Sync now",
  cancelSync: "Click to cancel",
  details: "Details",
  tryAgain: "Try again",
  // Where a row is.
  itemState: {
    synced: "on the server",
    pending: "on this device",
    sending: "sending",
    conflict: "needs you",
    quarantined: "needs you",
  },
  // Where an operation is.
  operationState: {
    queued: "queued",
    sending: "sending",
    waiting: "waiting",
    unknown: "answer unknown",
    conflict: "conflict",
    quarantined: "quarantined",
    done: "sent",
    discarded: "discarded",
    collapsed: "merged into another",
  },
  kind: { insert: "Add", update: "Change", replace: "Replace", delete: "Delete", undelete: "Restore" },
  backendState: {
    online: "Online",
    offline: "Offline",
    degraded: "Having trouble",
    signedOut: "Sign-in needed",
    portal: "Network sign-in page",
    notTables: "Wrong address",
  },
  offlineByChoice: "Offline by your choice",
  goOffline: "Work offline",
  goOnline: "Go online",
  nextTry: (text) => `next try ${distance(text)}`,
  waitingChanges: (count) => plural(count, "1 change waits", "# changes wait"),
  needYou: (count) => plural(count, "1 change needs you", "# changes need you"),
  allSent: "Everything is on the server",
  lastSync: (text) => `synced ${distance(text)}`,
  neverSynced: "not synced yet",
  risk: (count, reason) =>
    `${plural(count, "1 change is", "# changes are")} only on this device. ${reason}`,
  lookNow: "Decide now",
  runSent: (count) => plural(count, "1 change sent", "# changes sent"),
  runReceived: (count) => plural(count, "1 row received", "# rows received"),
  progress(progress) {
    if (progress?.phase === "push") return `Sending ${number(progress.done)}${ofTotal(progress.total)}`;
    if (progress?.phase === "pull") return `Receiving ${number(progress.done)}${ofTotal(progress.total)}`;
    return "Syncing…";
  },
  runState: {
    running: "Syncing",
    complete: "Synced",
    completeWithErrors: "Synced, but not everything went through",
    offline: "The backend cannot be reached. Your changes are safe on this device",
    signIn: "The backend wants a sign-in first",
    cancelled: "Sync cancelled",
    failed: "Sync failed",
  },
  disconnected: "This page lost its connection to Understudy. It reconnects by itself.",
  reconnected: "Connected again.",
  signInTitle: "Open the dashboard with its link",
  signIn:
    "This page needs the one-time link that Understudy printed when it started. To get a new one, run this in a terminal:",
  // Conflicts.
  noConflicts: "No conflicts. When two sides change the same field, you decide here.",
  conflictOf: (title) => `“${title}” was changed on both sides`,
  conflictDeletedThere: (title) => `“${title}” was deleted on the server after you changed it`,
  conflictDeletedHere: (title) => `“${title}” was changed on the server after you deleted it`,
  position: (index, count) => `${number(index)} of ${number(count)}`,
  previous: "Previous",
  next: "Next",
  field: "Field",
  base: "Before",
  mine: "Mine",
  server: "Server’s",
  result: "Result",
  useMine: (name) => `Use mine for ${name}`,
  useServer: (name) => `Use the server’s for ${name}`,
  keepMine: "Keep mine",
  keepServer: "Keep the server’s",
  keepBoth: "Keep both",
  useResult: "Use the result",
  notNow: "Not now",
  absent: "—",
  sameFields: (count) => plural(count, "1 field is the same on both sides.", "# fields are the same on both sides."),
  resolved: "Decided. It goes to the server with the next sync.",
  changedMeanwhile: "This change has changed meanwhile. Here is how it is now.",
  deletedSide: "deleted",
  invalidResult: (name) => `The result for ${name} is not valid JSON.`,
  // Queue.
  queueEmpty: "The queue is empty: everything is on the server.",
  nothingMatches: "Nothing matches this filter.",
  openStates: "Open",
  allStates: "All",
  search: "Search",
  table: "Table",
  attempts: (count) => plural(count, "1 attempt", "# attempts"),
  notTried: "not tried yet",
  retry: "Try again now",
  discard: "Discard",
  discardAsk: (title) => `Discard this change to “${title}”? The server’s row comes back. You can undo it in the history.`,
  discarded: "Discarded.",
  retried: "It is tried again now.",
  operation: "Operation",
  item: "Item",
  why: "Why it is here",
  payload: "What is sent",
  attemptLog: "Attempts",
  request: "Request",
  answer: "Answer",
  noAttempts: "Nothing was sent yet.",
  changedColumns: "Changed fields",
  created: "Accepted",
  lastTry: "Last try",
  nextTryLabel: "Next try",
  close: "Close",
  ledger: (l) =>
    `${number(l.accepted)} accepted = ${number(l.applied)} applied + ${number(l.collapsed)} collapsed + ` +
    `${number(l.discarded)} discarded + ${number(l.open)} open`,
  // History.
  noHistory: "Nothing happened yet.",
  undone: "Undone.",
  actor: { client: "a client", person: "you", engine: "Understudy" },
};
