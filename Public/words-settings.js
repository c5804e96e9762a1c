// The English sentences of what is set up rather than used: access, settings, the policies of a table, and
// the sheet of keys. Those of the views are in words.js.

import { distance } from "./formats.js";

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
