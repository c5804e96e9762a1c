// What a client would ask this very server for, ready to be pasted into a terminal.

import { h, toast } from "./dom.js";
import { words } from "./words.js";

const header = "-H 'ZUMO-API-VERSION: 2.0.0'";
const shell = (text) => `'${text.replaceAll("'", "'\\''")}'`;

/** Lines of curl for a table and the filter on screen. */
export function apiPreview(table, { filter, orderby }) {
  const address = `${location.origin}/tables/${encodeURIComponent(table)}`;
  const options = [["$filter", filter], ["$orderby", orderby], ["$top", "50"]].filter(([, value]) => value);
  const asked = `${address}?${options.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join("&")}`;
  const json = "-H 'Content-Type: application/json'";
  const lines = [
    [words.curlList, `curl -s ${header} ${shell(asked)}`],
    [words.curlInsert, `curl -s ${header} ${json} -d '{"text":"Buy milk"}' ${shell(address)}`],
    [words.curlUpdate, `curl -s -X PATCH ${header} ${json} -d '{"complete":true}' ${shell(`${address}/ID`)}`],
    [words.curlDelete, `curl -s -X DELETE ${header} ${shell(`${address}/ID`)}`],
  ];
  const copy = (text) => navigator.clipboard.writeText(text).then(() => toast(words.copied), () => toast(words.notCopied));
  return h("details", { class: "preview" }, h("summary", {}, words.apiPreview),
    lines.map(([name, text]) => h("div", { class: "curl" }, h("span", {}, name),
      h("pre", { tabindex: "0" }, text),
      h("button", { type: "button", class: "small", "aria-label": `${words.copy}: ${name}`, onclick: () => copy(text) }, words.copy))));
}
