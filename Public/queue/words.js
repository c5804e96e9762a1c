// The English sentences of the queue and of one change in it.

import { number, plural, quoted } from "../shared/formats.js";
import { words } from "../shared/words.js";

const outcomesShown = 3;

export const queueWords = {
  causes: "Causes",
  cause: "Cause",
  changes: "Changes",
  change: "Change",
  fields: "Table and fields",
  status: "Status",
  none: "none",
  firstSeen: "First seen",
  lastSeen: "Last seen",
  noCauses: "Nothing failed, and nothing waits for a reason.",
  causeCount: (count, shown) =>
    plural(count, "1 cause", "# causes") + (shown < count ? `; the largest ${number(shown)} are shown` : ""),
  largest: (count, reason) => `. ${number(count)} × ${reason}`,
  allCauses: (count) => `Show all ${number(count)} causes`,
  fewerCauses: "Show fewer causes",
  ofCause: {
    retry: (count, reason) => `Retry ${number(count)}: ${reason}`,
    discard: (count, reason) => `Discard ${number(count)}: ${reason}`,
  },
  queueOrder: {
    "": "Oldest first", newest: "Newest first", attempts: "Most attempts first", table: "By table",
  },
  attemptsLabel: "Attempts",
  attemptsLeast: { "": "Any", 1: "At least 1", 2: "At least 2", 5: "At least 5", 10: "At least 10" },
  age: "Age",
  ageLeast: {
    "": "Any", 60: "Over 1 minute", 3600: "Over 1 hour", 86400: "Over 1 day", 604800: "Over 1 week",
  },
  any: "Any",
  moreFilters: "More filters",
  decide: (count) => plural(count, "Decide 1 conflict", "Decide # conflicts"),
  print: "Print",
  showThem: "Show them",
  queueEmpty: "The queue is empty: everything is on the server.",
  notFound: (id) => `Not found: the queue has no change ${quoted(id)}.`,
  state: "State",
  allTables: "All tables",
  removeFilter: "Show all",
  bulk: "Bulk actions",
  pick: (title) => `Select “${title}”`,
  picked: (count) => `${number(count)} selected`,
  matching: (count) => plural(count, "1 operation", "# operations"),
  retryAll: (count) => `Retry all ${number(count)}…`,
  discardAll: (count) => `Discard all ${number(count)}…`,
  retryPicked: (count) => `Retry ${number(count)}`,
  discardPicked: (count) => `Discard ${number(count)}…`,
  matches: (count) => plural(count, "1 operation matches", "# operations match"),
  bulkAsk: {
    retry: (count) => `${queueWords.matches(count)} and will be queued for retry.`,
    discard: (count) =>
      `${queueWords.matches(count)} and will be discarded. The server’s rows come back. ` +
      "You can undo it afterwards, also in the history.",
  },
  bulkProgress: (count, total) => `${number(count)} of ${number(total)}`,
  rangeMoved: "The list changed meanwhile: select the first row again.",
  pickNone: "Select none",
  searchQueue: "Text, id or payload",
  bulkDone: {
    retry: (count, refused) => `${number(count)} queued for retry.${queueWords.leftAlone(refused)}`,
    discard: (count, refused) => `${number(count)} discarded.${queueWords.leftAlone(refused)}`,
  },
  /** What became of retried changes: "All 1,200 refused again: The title is taken." */
  outcome(outcomes) {
    const total = outcomes.reduce((sum, { count }) => sum + count, 0);
    const one = ({ state, reason, count }) => {
      const all = count === total && total > 1 ? `All ${number(total)}` : number(count);
      if (state === "done") return `${plural(count, "1 change", `${all} changes`)} sent.`;
      const what = queueWords.became[state] ?? words.operationState[state];
      return `${all} ${what}${reason ? `: ${reason.replace(/\.$/, "")}` : ""}.`;
    };
    const shown = outcomes.slice(0, outcomesShown).map(one);
    const rest = outcomes.length - shown.length;
    return [...shown, rest > 0 && plural(rest, "1 more cause.", "# more causes.")].filter(Boolean).join(" ");
  },
  became: { quarantined: "refused again", conflict: "in conflict now", waiting: "waiting again" },
  leftAlone: (count) => (count ? ` Not possible for ${number(count)}.` : ""),
  discardUnsent: (count) => plural(count, "Discard 1 unsent change", "Discard # unsent changes"),
  editOperation: "Edit",
  saveAndRetry: "Save and send again",
  editedOperation: "Changed. The next sync sends it.",
  careful: "Careful",
  maybeApplied: "It may have reached the backend. The row is read back before anything is sent again.",
  openStates: "Open",
  needsDecision: "needs a decision",
  allStates: "All",
  operationTitle: (kind, title) => `${kind} ${quoted(title)}`,
  attempts: (count) => plural(count, "1 attempt", "# attempts"),
  notTried: "not tried yet",
  retry: "Retry",
  discard: "Discard",
  discardAsk: (title) =>
    `Discard this change to ${quoted(title)}? The server’s row comes back. You can undo it in the history.`,
  discarded: "Discarded.",
  retried: "Queued for retry.",
  item: "Item",
  why: "Why it is here",
  payload: "What is sent",
  attemptLog: "Attempts",
  request: "Request",
  answer: "Answer",
  copyCurl: "Copy as curl",
  copyId: "Copy id",
  downloadJSON: "Download JSON",
  saveKeys: "Ctrl+Enter saves, Esc cancels.",
  notJSON: (line, column) => `This is not valid JSON: line ${line}, column ${column}.`,
  noAnswer: "no answer",
  ahead: {
    queued: "The next sync sends it.",
    sending: "It is being sent.",
    waiting: "The next sync tries it again.",
    unknown: "The next sync reads the row back.",
    conflict: "It waits for your decision.",
    quarantined: "It waits for your decision: edit it, retry it or discard it.",
  },
  changedColumns: "Changed fields",
  sentWith: "Sent with",
  created: "Accepted",
  ledger: ({ accepted, applied, collapsed, discarded, open }) =>
    `${number(accepted)} accepted = ${number(applied)} on the server + ` +
    `${number(collapsed)} merged into another + ` +
    `${number(discarded)} discarded + ${number(open)} open`,
};
