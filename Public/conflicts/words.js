// The English sentences of the conflicts view.

import { distance, number, plural, quoted } from "../shared/formats.js";

export const conflictWords = {
  noConflicts: "No conflicts. When two sides change the same field, you decide here.",
  conflictOf: (title) => `${quoted(title)} was changed on both sides`,
  conflictDeletedThere: (title) => `${quoted(title)} was deleted on the server after you changed it`,
  conflictDeletedHere: (title) => `${quoted(title)} was changed on the server after you deleted it`,
  position: (index, count) => `${number(index)} of ${number(count)}`,
  mine: "Yours",
  result: "Result",
  useMine: (name) => `Use yours for ${name}`,
  useServer: (name) => `Use the server’s for ${name}`,
  keepMine: "Keep yours",
  keepServer: "Keep the server’s",
  keepBoth: "Keep both",
  useResult: "Save this version",
  notNow: "Not now",
  sameFields: (count) =>
    plural(count, "1 field is the same on both sides.", "# fields are the same on both sides."),
  resolved: "Decided. Nothing is sent as long as you can undo it here.",
  resultTitle: "What will be saved",
  // What each choice writes; it stands beside the values while the choice has the focus or the pointer.
  outcome: {
    edited: "“Save this version” saves these values.",
    mine: "“Keep yours” saves these values: yours, and the server’s where only the server changed.",
    server: "“Keep the server’s” leaves these values on the server and gives up your change.",
    both: "“Keep both” leaves these values on the server and adds yours as a new row.",
  },
  outcomeDeletedHere: {
    mine: "The row is deleted on the server as well.",
    server: "The row comes back here as it is on the server.",
  },
  outcomeDeletedThere: {
    mine: "The row is on the server again, with your values.",
    server: "Your change is given up, and the row is deleted here as well.",
    both: "The row stays deleted, and yours is added as a new row.",
  },
  unchangedHere: "as last agreed",
  bothChanged: "changed on both sides",
  oneChanged: "changed on one side",
  onThisDevice: (who, when) => `${who}, ${distance(when)}`,
  anotherWriter: (when) => (when ? `another writer, ${distance(when)}` : "another writer"),
  conflictList: "Conflicts",
  conflictsMore: (count) => `and ${number(count)} more`,
  byKey: (key) => `Key: ${key}`,
  alike: (count, isAll) => `${isAll ? "" : "At least "}${number(count)} conflicts are alike`,
  counting: (count) => `Counting: ${number(count)} so far`,
  alikeMeans: "They are of the same table and about the same fields: one decision can settle them all.",
  wholeTable: (table) => `All conflicts of ${table}`,
  wholeTableMeans:
    "One decision for each of them, also for those about other fields. Merging takes the server’s value " +
    "where both changed a field; the newest is the side that was written later, by its own clock. " +
    "What cannot be decided so stays here.",
  allMatching: (count) => `All ${number(count)} that match`,
  field: "Field",
  who: "Who",
  pickAll: "Select all",
  willBe: "What will be written:",
  noTime: "The server’s row has no time, so this one stays a conflict.",
  staysConflict: "It stays a conflict: a deletion cannot be merged.",
  moreWritten: (count) => plural(count, "and 1 more", "and # more"),
  forAll: {
    merged: "Merge all",
    mine: "Keep yours for all",
    server: "Keep the server’s for all",
    newest: "Keep the newest for all",
    both: "Keep both for all",
  },
  forAllOf: (choice, count) => `${conflictWords.forAll[choice]} ${number(count)}`,
  forAllAsk: (count) => `This decides ${number(count)} conflicts at once. You can undo it afterwards.`,
  deciding: (done, count) => `Deciding ${number(done)} of ${number(count)}`,
  decidedAlready: "That conflict is decided already.",
  decided: (count, refused) =>
    `${plural(count, "1 conflict", "# conflicts")} decided.` +
    (refused ? ` ${number(refused)} changed meanwhile.` : "") +
    (count ? " Nothing is sent as long as you can undo it here." : ""),
  changedMeanwhile: "This change has changed meanwhile. Here is how it is now.",
};
