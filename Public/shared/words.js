// The English sentences of the views, ready for translation. Those of some views are in their folders.

import { day, distance, number, plural, quoted, time } from "./formats.js";

const ofTotal = (total) => (total === null || total === undefined ? "" : ` of ${number(total)}`);

export const views = {
  todos: "Todos",
  conflicts: "Conflicts",
  queue: "Queue",
  tables: "Tables",
  history: "History",
  status: "Status",
};

export const words = {
  pageTitle: (view) => `${view} – Understudy`,
  // Todos.
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
  noTableYet: (origin, table) =>
    `No table yet: point a client at ${origin}, or name one with --table. ` +
    `What is added above begins a table ${table}.`,
  // Which table is shown as todos.
  choice: {
    title: "Which table has the todos?",
    another: "Show another table",
    why:
      "Choose a table, the column with the text, and the one that says whether it is done. " +
      "This browser remembers it.",
    table: "Table",
    text: "Text",
    done: "Done",
    noDone: "no such column",
    show: "Show",
    shown: (table) => `Table ${table}`,
    odd: (table, column, other) => `The rows of ${table} have no column ${column}; they have ${other}.`,
    change: "Choose table and columns",
  },
  completed: (text) => `Completed ${quoted(text)}.`,
  reopened: (text) => `${quoted(text)} is open again.`,
  todosLeft: (count) => plural(count, "1 todo left", "# todos left"),
  todoText: "Todo text",
  editing: {
    saving: "Saving…",
    failed: (problem) => `Not saved: ${problem} What you typed stays here.`,
    failedAway: (problem) => `Not saved: ${problem} What you typed is kept with its todo.`,
    notSaved: (problem) => `Not saved: ${problem}`,
    again: "Try again",
    changed: (text) =>
      (text ? `Changed elsewhere meanwhile. It says now: “${text}”` : "Emptied elsewhere meanwhile."),
    keepMine: "Keep mine",
    takeTheirs: "Take theirs",
    gone: (problem) => `${problem ? `Not added: ${problem} ` : ""}It was deleted meanwhile.`,
    addAsNew: "Add as a new one",
    elsewhere: "It is elsewhere in the list now, or no longer in it. It stays here until you are done.",
  },
  adding: {
    saving: "Saving…",
    failed: "Not added. Your text stays here.",
    unknown: "The page was loaded again before this was answered. Look whether it is in the list.",
    unanswered: "There was no answer. Your text stays here: look whether it is in the list first.",
    againOf: (text) => `Try again: ${quoted(text)}`,
    giveUpOf: (text) => `Give up this text: ${quoted(text)}`,
  },
  due: (text) => `due ${day(text)}`,
  editTodo: (text) => `Edit “${text}”`,
  deleteTodo: (text) => `Delete “${text}”`,
  completeTodo: (text) => `Complete “${text}”`,
  deleted: (text) => `Deleted ${quoted(text)}.`,
  undo: "Undo",
  save: "Save",
  cancel: "Cancel",
  more: "Show more",
  untitled: "(no text)",
  syncNow: "Sync now",
  cancelSync: "Stop",
  syncing: "Syncing…",
  sending: (done, total) => `Sending ${number(done)}${ofTotal(total)}`,
  receiving: (table, done, total) =>
    `Receiving ${table} ${total === null ? words.soFar(done) : `${number(done)}${ofTotal(total)}`}`,
  soFar: (done) => `${number(done)} so far`,
  rate: (rate) => `${number(rate)} a second`,
  secondsLeft: (seconds) =>
    seconds < 90 ? `${number(seconds)} s left` : `${number(Math.round(seconds / 60))} min left`,
  details: "Details",
  // Where a row is.
  itemState: {
    synced: "on the server",
    pending: "on this device",
    sending: "sending",
    conflict: "needs a decision",
    quarantined: "needs a decision",
  },
  // Where an operation is.
  operationState: {
    queued: "queued",
    sending: "sending",
    waiting: "waiting",
    unknown: "no clear answer, checking",
    conflict: "conflict",
    quarantined: "refused",
    done: "sent",
    discarded: "discarded",
    collapsed: "merged into another",
  },
  kind: { insert: "Add", update: "Change", replace: "Replace", delete: "Delete", undelete: "Restore" },
  backendState: {
    online: "Connected",
    offline: "Cannot reach the backend",
    degraded: "The backend has errors",
    signedOut: "Sign-in needed",
    portal: "Network sign-in page",
    notTables: "No tables found",
    notAsked: "Not contacted yet",
  },
  backendIs: (state) => `${words.backendState[state] ?? state}.`,
  understudyStopped: "Understudy has stopped",
  lastHeard: (text) => `last answer ${distance(text)}; this page tries again`,
  workingOffline: "Working offline",
  workingOfflineUntil: (text) => `Working offline until ${time(text)}`,
  nowOffline: "Working offline. Changes are kept on this device.",
  nowOnline: (unsent, undecided) =>
    "Working online again." +
    (unsent ? ` ${plural(unsent, "1 change goes", "# changes go")} out with the next sync.` : "") +
    (undecided ? ` ${words.needDecision(undecided)}.` : ""),
  syncIsOff: "Working offline: nothing is sent. Go online first.",
  whatToDo: "What to do",
  goOffline: "Work offline",
  goOnline: "Go online",
  nextTry: (text) => `next try ${distance(text)}`,
  tablesFail: (names) =>
    names.length === 1 ? `The backend fails for ${names[0]}` : `The backend fails for ${names.length} tables`,
  tablesPaused: (names) =>
    names.length === 1 ? `${names[0]} is paused` : `${number(names.length)} tables are paused`,
  resume: "Resume",
  unsentChanges: (count) => plural(count, "1 unsent change", "# unsent changes"),
  unsentInAll: (count) => `${number(count)} unsent in all`,
  needDecision: (count) => plural(count, "1 change needs a decision", "# changes need a decision"),
  allSent: "Everything is on the server",
  nothingUnsent: "No unsent changes",
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
    completeWithErrors: "Synced in part",
    offline: "Cannot reach the backend. Your changes are safe on this device",
    signIn: "The backend wants a sign-in first",
    cancelled: "Sync cancelled",
    failed: "Sync failed",
  },
  syncedBut: (count) => `Synced, but ${words.needDecision(count)}`,
  noAnswerHere: "Understudy itself does not answer. Is it still running?",
  failedRequest: (method, path, status) => `${method} ${path}: ${status}`,
  backendAnswers: (problem) => `The backend answers. ${problem}`,
  disconnected: "This page lost its connection to Understudy. It reconnects by itself.",
  reconnected: "Connected again.",
  signInTitle: "Open the dashboard with its link",
  signIn:
    "This page needs the one-time link that Understudy printed when it started. " +
    "To get a new one, run this in a terminal:",
  signInCommand: "understudy open",
  signedOut: "Not signed in",
  signInAgain:
    "This browser is no longer signed in to Understudy: nothing can be read or saved. What is typed here " +
    "stays. Open a new link in another tab, and this page goes on by itself. To get one, run in a terminal: ",
  lastHeardSignedOut: (text) => `last answer ${distance(text)}`,
  // Several views.
  unsaved: "unsaved text",
  unsavedIn: "Unsaved text:",
  unsavedHere: "This text is not saved yet.",
  changedWhileTyping:
    "It has changed meanwhile. What you typed stays; what is sent now is below it. " +
    "Saving again replaces that.",
  sentNow: "What is sent as it is now:",
  leftText: (title) =>
    `${quoted(title)} can no longer be changed here. This was typed for it and not saved:`,
  giveUp: "Give up this text",
  typedElsewhere: (table, column) => `Typed for the column ${column} of the table ${table} and not saved:`,
  unsavedOf: (identity) => `the page of ${identity}`,
  previous: "Previous",
  next: "Next",
  base: "Last agreed",
  server: "On the server",
  absent: "—",
  takingBack: (count, total) => `Undone ${number(count)} of ${number(total)}…`,
  takenBack: (count, items) =>
    `${plural(count, "1 decision", "# decisions")} undone. ${words.undoSays(items)}`,
  undoAsk: "Undo what was sent?",
  /** What an undo does to each: every sentence once, with how often where they differ. */
  undoSays(items) {
    const counts = new Map();
    for (const { sentence } of items) counts.set(sentence, (counts.get(sentence) ?? 0) + 1);
    if (counts.size === 1) return `${items.length > 1 ? "Each of them: " : ""}${items[0].sentence}`;
    return [...counts].map(([sentence, count]) => `${number(count)}: ${sentence}`).join(" ");
  },
  nothingToUndo: "There is nothing to undo.",
  deletedSide: "deleted",
  invalidResult: (name) => `The result for ${name} is not valid JSON.`,
  download: (format) => `Download all as ${format}`,
  downloadAs: { csv: "CSV", jsonl: "JSON Lines" },
  nothingMatches: "Nothing matches this filter.",
  reason: "Reason",
  search: "Search",
  table: "Table",
  nextTryLabel: "Next try",
  close: "Close",
  // Tables.
  tables: "Tables",
  rows: "Rows",
  noTables: (origin) => `No table yet: point a client at ${origin}, or name one with --table.`,
  noRows: "This table has no rows here.",
  filterRows: "Text or OData filter",
  filterExample: "A text, or complete eq false and text ne ''",
  applyFilter: "Filter",
  showDeleted: "Include deleted",
  whereColumn: "Where",
  index: (columns) => `indexed by ${columns}`,
  indexes: "Indexes for slow lists, with ; between",
  rowCount: (count) => plural(count, "1 row", "# rows"),
  pendingCount: (count) => `${number(count)} unsent`,
  complete: "complete",
  partial: "not pulled completely yet",
  part: (filter) => `only rows with ${filter} are copied`,
  pulled: (when) => `pulled ${when}`,
  neverPulled: "never pulled",
  noID: "(no id)",
  setAside: (count) => plural(count, "1 row could not be stored", "# rows could not be stored"),
  idKind: { string: "text ids", integer: "integer ids" },
  isPublic: "the same rows for everyone",
  range: (from, to, total) => `${number(from)}–${number(to)} of ${number(total)}`,
  pull: "Pull",
  purge: "Remove from this device…",
  purgeTitle: (table) => `Remove ${table} from this device`,
  purgeAsk: (table, filter) =>
    (filter ? `The rows of ${table} that match the filter` : `All rows of ${table}`) +
    " are removed from this device. The server keeps its rows; the next pull brings them again.",
  purgeLoses: (table, count) =>
    `${table} has ${plural(count, "1 change that is", "# changes that are")} not on the server. ` +
    "Removing the rows deletes their changes.",
  purgeRows: (count) => plural(count, "Remove 1 row", "Remove # rows"),
  purgeUnsent: (count) => plural(count, "Delete 1 unsent change", "Delete # unsent changes"),
  purged: (count, lost) =>
    `${plural(count, "1 row", "# rows")} removed from this device.` +
    (lost ? ` ${plural(lost, "1 unsent change", "# unsent changes")} deleted.` : ""),
  purgeUndone: "Undone: the unsent changes are back.",
  policies: "Policies",
  saved: "Saved.",
  delete: "Delete",
  deleteAsk: (id) => `Delete the row ${quoted(id)}? The deletion goes to the server with the next sync.`,
  apiPreview: "The same with curl",
  curlList: "These rows",
  curlInsert: "Add a row",
  curlUpdate: "Change a row",
  curlDelete: "Delete a row",
  curlItem: '{"text":"Buy milk"}',
  curlChange: '{"complete":true}',
  copy: "Copy",
  copied: "Copied.",
  notCopied: "The browser does not let this page copy.",
  // Whose rows.
  whose: "Whose rows are shown",
  withoutSignIn: "without a sign-in",
  readOnly: "Read only",
  readOnlyMeans: "This browser was signed in to look: it changes nothing.",
  onlyLooking:
    "These rows belong to a sign-in: here they can be looked at; its app changes them. " +
    "The queue and conflicts can be worked on.",
  // Keys and theme.
  keys: "Keyboard",
  keysOn: "Single keys are on",
  theme: (name) => `Theme: ${{ system: "as the system", light: "light", dark: "dark" }[name]}`,
  themeNow: (name) =>
    ({ system: "The theme follows the system.", light: "Light theme.", dark: "Dark theme." })[name],
  // History.
  whileAway: "While you were away:",
  whileAwayMost: (count) => `While you were away much happened. The latest ${number(count)}:`,
  awayCount: (kind, count) => `${number(count)} ${kind}`,
  whatChanged: "What changed",
  wasUndone: "undone",
  historyKind: {
    write: "written",
    sent: "sent",
    conflict: "conflict",
    merged: "merged",
    resolved: "decided",
    quarantined: "refused",
    discarded: "discarded",
    retried: "retried",
    edited: "edited",
    pulled: "received",
    purged: "removed from this device",
    undone: "undone",
    failed: "failed",
  },
  noHistory: "Nothing happened yet.",
  undone: (sentence) => `Undone. ${sentence}`,
  actor: { client: "a client", person: "you", engine: "Understudy" },
};
