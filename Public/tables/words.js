// The English sentences of the tables view.

import { number, quoted } from "../shared/formats.js";

export const tableWords = {
  choose: "Table",
  find: "Find a table",
  noRemovalByText:
    "Rows that a text was searched for are not removed: use an OData filter, or no filter for all rows.",
  columns: (hidden) => (hidden ? `Columns (${number(hidden)} hidden)` : "Columns"),
  columnsTitle: "Columns shown",
  columnsCount: (shown, all) =>
    shown === all ? `All ${number(all)} columns are shown.` :
      `${number(shown)} of ${number(all)} columns are shown; ${number(all - shown)} are hidden.`,
  columnsFrom: "These are the columns of the rows on this page.",
  findColumn: "Find a column",
  showAll: "Show all",
  showFew: "Show the first few",
  sortBy: (name, order) => `${name}: ${{ asc: "sorted up", desc: "sorted down", none: "not sorted" }[order]}`,
  newRow: "New row",
  newRowOf: (table) => `New row of ${table}`,
  add: "Add row",
  added: (id) => `Row ${quoted(id)} added. The next sync sends it.`,
  idMade: "made when the row is added",
  moreColumns: (count) => `${number(count)} more columns`,
  others: "Other columns, as a JSON object",
  othersHint: '{"name": "value"}',
  noValue: "no value",
  yes: "true",
  no: "false",
  notNumber: (name) => `${name} must be a number, such as 12 or -0.5.`,
  notDate: (name) => `${name} must be a date.`,
  notObject: "The other columns must be a JSON object.",
  wasStored: (text) => `stored as ${text}`,
  isNow: (text) => `The row has now: ${quoted(text)}`,
  changedWhileTyping:
    "The row was changed while you edited it. What you typed stays; what the row has now is below it. " +
    "Saving again replaces that.",
  about: "About this table",
};
