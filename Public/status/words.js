// The English sentences of the status, access, settings, policies and keys.

import { distance, number, plural, time, timeAndDistance } from "../shared/formats.js";

export const statusWords = {
  title: "Status and settings",
  backend: "Backend",
  address: "Address",
  otherAddress: "Use another address",
  otherAddressHow:
    "The address belongs to the start, so that no page can send your changes elsewhere. " +
    "Stop Understudy and start it with the new one:",
  otherAddressCommand: "understudy serve --backend https://NEW-ADDRESS",
  rebindHow:
    "If the old address never answered as a tables backend, the new one is simply taken. " +
    "If it did, your work goes on here, but nothing is sent to the new one before you say so. " +
    "This keeps everything that waits, and pulls all tables anew:",
  rebindCommand: "understudy serve --backend https://NEW-ADDRESS --rebind",
  since: "Since",
  lastSync: "Last sync",
  nextSync: "Next sync",
  version: "Version",
  running: (version, startedAt) => `Understudy ${version}, started ${distance(startedAt)}`,
  mode: "Work offline",
  modeOnline: "Changes are sent as soon as the backend can be reached.",
  offlineFor: "For",
  offlineLengths: [
    ["", "until I go online"], ["900", "15 minutes"], ["3600", "1 hour"], ["28800", "8 hours"],
  ],
  settings: "Sync",
  ledger: "Every change, accounted for",
  balances: "The numbers add up: no change was lost.",
  doesNotBalance: "The numbers do not add up. Please run: understudy doctor",
  accepted: "accepted",
  applied: "on the server",
  identities: "Whose rows",
  unsigned: {
    give: "Give what was written without a sign-in to this user",
    ask: (count, left, user) => `${plural(count, "1 change is", "# changes are")} sent as those of ${user}.` +
      (left ? ` ${plural(left, "1 stays", "# stay")}: the user’s store would not take it.` : ""),
    given: (count, isUndone) =>
      `${plural(count, "1 change", "# changes")} ${isUndone ? "taken back" : "given to the user"}.`,
  },
  identitiesMean: "Each sign-in has a store of its own; nothing is sent under another’s name.",
  shownHere: "(shown here)",
  rejected: "Rejected requests",
  noneRejected: "No request was rejected.",
  rejections: (count, status) => `${number(count)} × ${status}`,
};

/** The card of a backend that cannot be used. */
export const contactWords = {
  first: (title) => `First contact: ${title}`,
  tried: "What was tried",
  cameBack: (status, at) => `${status ? `It answered ${status}` : "No answer came"}, ${timeAndDistance(at)}.`,
  failing: (names) => `The backend fails for ${[...new Set(names)].join(", ")}`,
  waits: { push: "Changes wait.", pull: "Rows are not refreshed." },
  named: "(as the backend asked)",
  othersWork: "The other tables work. Every change is kept on this device.",
  whatToDo: "What to do",
  since: (when) => `since ${time(when)}`,
  seenTables: (names) => `Tables seen so far: ${names.join(", ") || "none"}.`,
  safeMeanwhile: "Meanwhile every change is kept on this device and sent later.",
  tryAgain: "Try again",
  advice: {
    offline: {
      title: "the backend cannot be reached",
      steps: [
        "Check the address and the port.",
        "Check that the backend runs and that this machine has a network.",
        "Nothing else to do: Understudy tries again by itself.",
      ],
    },
    degraded: {
      title: "the backend has errors",
      steps: [
        "It answers, but with errors. Understudy tries again by itself.",
        "If this stays so, look into the backend’s own log.",
      ],
    },
    notTables: {
      title: "no table was found there yet",
      steps: [
        "Point a client at this address: the first table that it asks for is found then. " +
          "Or start again with a name: --table NAME",
        "If none is found, correct the address, of which the part before /tables is meant: " +
          "understudy serve --backend URL",
        "A table that takes writes and gives no list is named with --trust-table NAME.",
      ],
    },
    portal: {
      title: "a network sign-in page is in the way",
      steps: ["Open any page in a browser and sign in to the network.", "Then it goes on by itself."],
    },
    signedOut: {
      title: "the backend wants a sign-in",
      steps: [
        "Sign in with the client app through this address, as ever.",
        "What was written with a sign-in is sent by itself then. What was written without one stays, and " +
          "can be given to its user on the status page.",
      ],
    },
    tls: {
      title: "the secure connection fails",
      steps: [
        "Check that the address begins with https:// only if the backend speaks it.",
        "Check the clock of this machine and the backend’s certificate.",
      ],
    },
  },
};

export const backupWords = {
  title: "Backups",
  plan: (seconds, keep, next) => seconds
    ? `One is made every ${number(seconds / 3600)} h, ${number(keep)} are kept; the next is due ${next}.`
    : `None is made by itself (backup-every in the configuration); ${number(keep)} are kept.`,
  none: "There is none yet.",
  more: (count) => plural(count, "1 earlier one is in the folder.", "# earlier ones are in the folder."),
  restoreHow: "To restore one, stop Understudy and run: understudy restore FOLDER",
  rehearse: "Try to restore",
  rehearsed: (contents) => `It can be restored: ${contents}. Nothing was changed.`,
  make: "Take one now",
  made: (contents) => `Taken and checked: ${contents}.`,
  contents: (stores, items, open) => `${stores} stores, ${items} rows, ${open} unsent changes`,
};

export const accessWords = {
  title: "Access",
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
  readPolicy: {
    label: "Reads",
    choices: {
      standard: "as is standard",
      local: "from this device",
      revalidate: "from this device, refreshed in the background",
      "remote-first": "from the backend first",
    },
  },
  writePolicy: {
    label: "Writes",
    choices: {
      standard: "as is standard", local: "answered at once", "write-through": "wait for the backend",
    },
  },
  conflictPolicy: {
    label: "Conflicts",
    choices: {
      ask: "ask me", merge: "merge where possible", client: "your change wins", server: "the server wins",
    },
  },
  unconditionalPolicy: {
    label: "Writes without a version",
    choices: { ask: "as other conflicts", client: "your change wins" },
  },
  pause: {
    label: "Sync",
    choices: {
      nothing: "sends and fetches", pushes: "paused: sends nothing", pulls: "paused: fetches nothing",
      all: "paused: sends and fetches nothing",
    },
  },
};

export const triggersTitle = "Automatic sync";

export const triggerWords = {
  manual: "when I ask",
  afterWrites: "after changes",
  interval: "at an interval",
  reconnect: "when the backend is back",
  read: "when a client reads a table that is read from the backend",
};

export const settingWords = {
  intervalSeconds: { label: "Seconds between syncs", min: 1, max: 86400 },
  debounceMs: { label: "Wait after a change, ms", min: 0, max: 60000 },
  parallelism: { label: "Requests at once", min: 1, max: 16 },
  maxAttempts: { label: "Attempts before it counts as refused", min: 1, max: 1000 },
  pageRows: { label: "Rows of one pull page", min: 1, max: 1000 },
};

/** Keys and what they do, for the sheet. */
export const keySheet = [
  ["/", "Search; in it Enter goes to the list, Esc leaves it"],
  ["?", "This sheet"],
  ["g t", "Todos"], ["g c", "Conflicts"], ["g o", "Queue"], ["g d", "Refused by the server"],
  ["g b", "Tables"], ["g h", "History"], ["g s", "Status"],
  ["j k", "Next and previous row or conflict"],
  ["Enter", "Open the row"],
  ["x", "Select the row; complete the todo"],
  ["*", "All that match"],
  ["r", "Retry"], ["e", "Edit"], ["#", "Discard or delete"],
  ["m s b a", "In a conflict: yours, the server’s, both, this version"],
  ["n p", "Next and previous conflict"],
  ["a", "In the todos: add"],
  ["p", "In the todos: offline and online"],
  ["u", "Undo"], ["t", "Theme"], ["Esc", "Close the card at the side"],
];
