// Every English sentence of the dashboard, in one place, ready for translation.

const locale = navigator.languages;
const whole = new Intl.NumberFormat(locale);
const clock = new Intl.DateTimeFormat(locale, { timeStyle: "medium" });
const day = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "medium" });
const relative = new Intl.RelativeTimeFormat(locale, { numeric: "auto" });

const short = new Intl.NumberFormat(locale, { notation: "compact", maximumFractionDigits: 0 });

export const number = (value) => whole.format(value ?? 0);

/** "120K" where there is little room. */
export const shortNumber = (value) => short.format(value);
const ofTotal = (total) => (total === null || total === undefined ? "" : ` of ${number(total)}`);
const plural = (count, one, many) => (count === 1 ? one : many.replace("#", number(count)));

/** A time of day when it is today, else with its date. */
export function time(text) {
  if (!text) return "";
  const date = new Date(text);
  return date.toDateString() === new Date().toDateString() ? clock.format(date) : day.format(date);
}

const minute = new Intl.DateTimeFormat(locale, { timeStyle: "short" });
export const clockTime = (text) => minute.format(new Date(text));

const dayOnly = new Intl.DateTimeFormat(locale, { dateStyle: "medium" });

/** A day without its time; what is no date is shown as it is. */
function date(text) {
  const at = new Date(text);
  // A bare date is meant as it is written, wherever the reader is.
  const here = /^\d{4}-\d\d-\d\d$/.test(text) ? new Date(`${text}T00:00`) : at;
  return Number.isNaN(here.getTime()) ? String(text) : dayOnly.format(here);
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

export const views = { todos: "Todos", conflicts: "Conflicts", queue: "Queue", tables: "Tables", history: "History", status: "Status" };

export const words = {
  add: "Add",
  newTodo: "What needs doing?",
  show: { all: "All", active: "Active", completed: "Completed" },
  showLabel: "Which todos",
  order: { newest: "Newest first", oldest: "Oldest first", text: "A to Z", due: "Due first" },
  sort: "Sort by",
  searchTodos: "Search todos",
  noTodos: {
    all: "Nothing to do. Add the first todo above; it is kept even with the backend away.",
    active: "Everything is done.",
    completed: "Nothing is completed yet.",
  },
  newIn: (table) => `Add to ${table}`,
  searchIn: (table) => `Search ${table}`,
  openLeft: (count) => `${number(count)} open`,
  noTableYet: (origin, table) => `No table yet: point a client at ${origin}, or name one with --table. What is added above begins a table ${table}.`,
  // Which table is shown as todos.
  choice: {
    title: "Which table has the todos?",
    another: "Show another table",
    why: "Choose a table, the column with the text, and the one that says whether it is done. This browser remembers it.",
    table: "Table",
    text: "Text",
    done: "Done",
    noDone: "no such column",
    show: "Show",
    shown: (table) => `Table ${table}`,
    odd: (table, column, other) => `The rows of ${table} have no column ${column}; they have ${other}.`,
    change: "Choose table and columns",
  },
  completed: (text) => `Completed “${text}”.`,
  reopened: (text) => `“${text}” is open again.`,
  todosLeft: (count) => plural(count, "1 todo left", "# todos left"),
  todoText: "Todo text",
  due: (text) => `due ${date(text)}`,
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
  cancelSync: "Stop",
  syncing: "Syncing…",
  sending: (done, total) => `Sending ${number(done)}${ofTotal(total)}`,
  receiving: (table, done, total) => `Receiving ${table} ${total === null ? words.soFar(done) : `${number(done)}${ofTotal(total)}`}`,
  soFar: (done) => `${number(done)} so far`,
  rate: (rate) => `${number(rate)} a second`,
  secondsLeft: (seconds) => (seconds < 90 ? `${number(seconds)} s left` : `${number(Math.round(seconds / 60))} min left`),
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
    notTables: "No tables found",
  },
  backendIs: (state) => `The backend: ${words.backendState[state] ?? state}.`,
  offlineByChoice: "Offline by your choice",
  offlineUntil: (text) => `Offline by your choice until ${time(text)}`,
  nowOffline: "Working offline. Changes wait on this device.",
  nowOnline: "Online again. What waited is sent.",
  whatToDo: "What to do",
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
  bothChanged: "changed on both sides",
  oneChanged: "changed on one side",
  useThis: "Use this",
  byKey: (key) => `Key: ${key}`,
  alike: (count) => `${number(count)} conflicts are alike`,
  alikeMeans: "The same table, the same fields, the same kind of clash: one choice can decide them all.",
  wholeTable: (table) => `All conflicts of ${table}`,
  wholeTableMeans: "One choice for every conflict of this table, also for those that clash in another way. What cannot be merged stays here.",
  forAll: { merged: "Merge all", mine: "Keep mine for all", server: "Keep the server’s for all", both: "Keep both for all" },
  forAllAsk: (count) => `This decides ${number(count)} conflicts at once. You can undo it afterwards.`,
  deciding: (done, count) => `Deciding ${number(done)} of ${number(count)}`,
  decidedAlready: "That conflict is decided already.",
  decided: (count, refused) => `${plural(count, "1 conflict", "# conflicts")} decided.${refused ? ` ${number(refused)} changed meanwhile.` : ""}`,
  takingBack: (count, total) => `Undone ${number(count)} of ${number(total)}…`,
  takenBack: (count) => `${plural(count, "1 decision", "# decisions")} undone: each change is as it was before, and a conflict is open again.`,
  nothingToUndo: "There is nothing to undo.",
  changedMeanwhile: "This change has changed meanwhile. Here is how it is now.",
  deletedSide: "deleted",
  invalidResult: (name) => `The result for ${name} is not valid JSON.`,
  // Queue.
  queueEmpty: "The queue is empty: everything is on the server.",
  notFound: (id) => `Not found: the queue has no change “${id}”.`,
  nothingMatches: "Nothing matches this filter.",
  state: "State",
  reason: "Reason",
  allTables: "All tables",
  removeFilter: "Show all",
  bulk: "Do it to many",
  pick: (title) => `Select “${title}”`,
  picked: (count) => `${number(count)} selected`,
  matching: (count) => plural(count, "1 operation", "# operations"),
  retryAll: (count) => `Retry all ${number(count)}…`,
  discardAll: (count) => `Discard all ${number(count)}…`,
  retryPicked: (count) => `Retry ${number(count)}`,
  discardPicked: (count) => `Discard ${number(count)}…`,
  bulkAsk: {
    retry: (count) => `${plural(count, "1 operation matches", "# operations match")} and will be tried again now.`,
    discard: (count) => `${plural(count, "1 operation matches", "# operations match")} and will be given up. The server’s rows come back. Each can be undone in the history.`,
  },
  bulkProgress: (count, total) => `${number(count)} of ${number(total)}`,
  pickNone: "Select none",
  searchQueue: "Text, id or payload",
  bulkDone: (count, refused) => `Done for ${number(count)}.${refused ? ` Not possible for ${number(refused)}.` : ""}`,
  editOperation: "Edit",
  saveAndRetry: "Save and send again",
  editedOperation: "Changed. It is sent with the next sync.",
  careful: "Careful",
  maybeApplied: "It may have reached the backend. The row is read back before anything is sent again.",
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
  noAnswer: "no answer",
  ahead: {
    queued: "It is sent with the next sync.",
    sending: "It is being sent.",
    waiting: "It is tried again with the next sync.",
    unknown: "The row is read back with the next sync.",
    conflict: "It waits for your decision.",
    quarantined: "It waits for you: edit it, try it again or discard it.",
  },
  changedColumns: "Changed fields",
  sentWith: "Sent with",
  created: "Accepted",
  lastTry: "Last try",
  nextTryLabel: "Next try",
  close: "Close",
  ledger: (l) =>
    `${number(l.accepted)} accepted = ${number(l.applied)} applied + ${number(l.collapsed)} collapsed + ` +
    `${number(l.discarded)} discarded + ${number(l.open)} open`,
  // Tables.
  tables: "Tables",
  rows: "Rows",
  noTables: (origin) => `No table yet: point a client at ${origin}, or name one with --table.`,
  noRows: "This table has no rows here.",
  filterRows: "OData filter",
  filterExample: "complete eq false and text ne ''",
  orderRows: "Order by",
  orderExample: "updatedAt desc",
  applyFilter: "Filter",
  showDeleted: "Deleted too",
  whereColumn: "Where",
  index: (columns) => `indexed by ${columns}`,
  rowCount: (count) => plural(count, "1 row", "# rows"),
  pendingCount: (count) => plural(count, "1 pending", "# pending"),
  complete: "complete",
  partial: "not pulled completely yet",
  pulled: (when) => `pulled ${when}`,
  neverPulled: "never pulled",
  noID: "(no id)",
  setAside: (count) => (count === 1 ? "1 row that cannot be taken" : `${count} rows that cannot be taken`),
  idKind: { string: "text ids", integer: "integer ids" },
  isPublic: "the same rows for everybody",
  range: (from, to, total) => `${number(from)}–${number(to)} of ${number(total)}`,
  pull: "Pull",
  purge: "Purge…",
  purgeAsk: (table, filter, lost) =>
    (lost ? `${lost} Going on now discards them. ` : "") +
    `${filter ? `The rows of ${table} that match the filter` : `All rows of ${table}`} are removed from this device. The server keeps its rows; the next pull brings them again.`,
  purged: (count, lost) => `${plural(count, "1 row", "# rows")} removed here.${lost ? ` ${number(lost)} pending changes discarded.` : ""}`,
  policies: "Policies",
  saved: "Saved.",
  delete: "Delete",
  deleteAsk: (id) => `Delete the row ${id}? The deletion goes to the server with the next sync.`,
  apiPreview: "The same with curl",
  curlList: "These rows",
  curlInsert: "Add a row",
  curlUpdate: "Change a row",
  curlDelete: "Delete a row",
  copy: "Copy",
  copied: "Copied.",
  notCopied: "The browser does not let this page copy.",
  // Status.
  statusTitle: "Status and settings",
  backendTitle: "Backend",
  address: "Address",
  otherAddress: "Use another address",
  otherAddressHow: "The address belongs to the start, so that no page can send your changes elsewhere. Stop Understudy and start it with the new one:",
  otherAddressCommand: "understudy serve --backend https://NEW-ADDRESS",
  rebindHow: "If the old address never answered as a tables backend, the new one is simply taken. If it did, your work goes on here, but nothing is sent to the new one before you say so. This keeps everything that waits, and pulls all tables anew:",
  since: "Since",
  lastSyncLabel: "Last sync",
  nextSyncLabel: "Next sync",
  version: "Version",
  runningSince: (when) => `started ${when}`,
  modeTitle: "Work offline",
  modeOnline: "Changes are sent as soon as the backend takes them.",
  offlineFor: "For",
  offlineLengths: [["", "until I go online"], ["900", "15 minutes"], ["3600", "1 hour"], ["28800", "8 hours"]],
  settingsTitle: "Sync",
  triggersTitle: "Sync by itself",
  ledgerTitle: "Every write, accounted for",
  balances: "The account balances: nothing was lost.",
  doesNotBalance: "The account does not balance. Please run: understudy doctor",
  ledgerNames: {
    accepted: "accepted", applied: "on the server", collapsed: "merged into another", discarded: "discarded", queued: "queued",
    waiting: "waiting", sending: "sending", unknown: "answer unknown", conflict: "conflict", quarantined: "quarantined",
  },
  whose: "Whose rows are shown",
  nobody: "without a sign-in",
  onlyLooking: "These rows belong to a sign-in: here they can be looked at; its app changes them. The queue and conflicts can be worked on.",
  identitiesTitle: "Whose rows",
  identitiesMean: "Each sign-in has a store of its own; nothing is sent under another’s name.",
  shownHere: "(shown here)",
  rejectedTitle: "Refused requests",
  noneRejected: "No request was refused.",
  firstContact: "First contact:",
  tried: "What was tried",
  whatToDoTitle: "What to do",
  sinceTime: (when) => `since ${when}`,
  seenTables: (names) => `Tables seen so far: ${names.join(", ") || "none"}.`,
  safeMeanwhile: "Meanwhile every change is kept on this device and sent by itself later.",
  contact: {
    offline: { title: "the backend cannot be reached", steps: ["Check the address and the port.", "Check that the backend runs and that this machine has a network.", "Nothing else to do: it is tried again by itself."] },
    degraded: { title: "the backend has trouble", steps: ["It answers, but with errors. It is tried again by itself.", "If it stays, look into the backend’s own log."] },
    notTables: { title: "no table was found there yet", steps: ["Point a client at this address: the first table that it asks for is found then. Or start again with a name: --table NAME", "If none is found, correct the address, of which the part before /tables is meant: understudy serve --backend URL"] },
    portal: { title: "a network sign-in page is in the way", steps: ["Open any page in a browser and sign in to the network.", "Then it goes on by itself."] },
    signedOut: { title: "the backend wants a sign-in", steps: ["Sign in with the client app through this address, as ever.", "What waits for this sign-in is sent by itself then."] },
    tls: { title: "the secure connection fails", steps: ["Check that the address begins with https:// only if the backend speaks it.", "Check the clock of this machine and the backend’s certificate."] },
  },
  // Keys and theme.
  keys: "Keyboard",
  keysOn: "Single keys are on",
  theme: (name) => `Theme: ${{ system: "as the system", light: "light", dark: "dark" }[name]}`,
  themeNow: (name) => ({ system: "The theme follows the system.", light: "Light theme.", dark: "Dark theme." })[name],
  // History.
  whileAway: "While you were away:",
  whileAwayMost: (count) => `While you were away much happened. The latest ${number(count)}:`,
  awayCount: (kind, count) => `${number(count)} ${kind}`,
  whatChanged: "What changed",
  wasUndone: "undone",
  noSamples: "The charts begin after the first minute.",
  chartDepth: "Waiting changes",
  chartLatency: "Time to send",
  chartResults: "Results",
  chartNow: (now, most) => `now ${now}, most ${most}`,
  chartMost: (most) => `longest ${most}`,
  chartSums: (good, bad) => `${number(good)} sent, ${number(bad)} failed`,
  historyKind: {
    write: "written", sent: "sent", conflict: "conflict", merged: "merged", resolved: "decided", quarantined: "quarantined", discarded: "discarded",
    retried: "retried", edited: "edited", pulled: "received", purged: "purged", undone: "undone", failed: "failed",
  },
  noHistory: "Nothing happened yet.",
  undone: "Undone.",
  actor: { client: "a client", person: "you", engine: "Understudy" },
  imported: "imported",
};

export const accessWords = {
  title: "Who may come in",
  addresses: "Addresses of clients",
  mean: "A client with an address of its own shows by name in the history, and others cannot guess it.",
  noAddresses: "No client has an address of its own.",
  name: "Name of the client",
  make: "Make an address",
  once: (name) => `The address of ${name}. It is shown this once:`,
  used: (when) => (when ? `used ${distance(when)}` : "not used since the start"),
  revoke: (name) => `Revoke ${name}`,
  revokeMeans: "The client that uses this address is refused from now on.",
  revoked: (name) => `${name} is revoked.`,
  browsers: "Signed-in browsers",
  thisOne: "this one",
  unnamed: "a browser without a name",
  since: (when) => `since ${distance(when)}`,
  signOut: "Sign out",
  signedOut: "The browser is signed out.",
};

export const policyWords = {
  readPolicy: { label: "Reads", choices: { local: "from this device", revalidate: "from this device, refreshed behind", "remote-first": "from the backend first" } },
  writePolicy: { label: "Writes", choices: { local: "answered at once", "write-through": "wait for the backend" } },
  conflictPolicy: { label: "Conflicts", choices: { ask: "ask me", merge: "merge by themselves", client: "mine wins", server: "the server’s wins" } },
  unconditionalPolicy: { label: "Writes without a version", choices: { ask: "as other conflicts", client: "mine wins" } },
};

export const triggerWords = {
  manual: "when I ask",
  afterWrites: "after changes",
  interval: "every so often",
  reconnect: "when the backend is back",
  read: "when a client reads a table that is read through",
};

export const settingWords = {
  intervalSeconds: { label: "Seconds between syncs", min: 1, max: 86400 },
  debounceMs: { label: "Quiet time after changes, ms", min: 0, max: 60000 },
  parallelism: { label: "Requests at once", min: 1, max: 16 },
  maxAttempts: { label: "Tries before quarantine", min: 1, max: 1000 },
  pageRows: { label: "Rows of one pull page", min: 1, max: 1000 },
};

/** Keys and what they do, for the sheet. */
export const keySheet = [
  ["/", "Search"],
  ["?", "This sheet"],
  ["g t", "Todos"], ["g c", "Conflicts"], ["g o", "Queue"], ["g d", "Quarantined"], ["g b", "Tables"], ["g h", "History"], ["g s", "Status"],
  ["j k", "Next and previous row"],
  ["Enter", "Open the row"],
  ["x", "Select the row; complete the todo"],
  ["*", "All that match"],
  ["r", "Retry"], ["e", "Edit"], ["#", "Discard or delete"],
  ["m s b a", "In a conflict: mine, the server’s, both, the result"],
  ["n p", "Next and previous conflict"],
  ["a", "In the todos: add"],
  ["p", "In the todos: offline and online"],
  ["u", "Undo"], ["t", "Theme"],
];
