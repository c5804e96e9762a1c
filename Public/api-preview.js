// What a client would ask this server for, as lines of curl to be pasted into a terminal.

import { copyButton, shell } from "./clipboard.js";
import { h } from "./dom.js";
import { words } from "./words.js";

const version = "-H 'ZUMO-API-VERSION: 2.0.0'";
const json = "-H 'Content-Type: application/json'";
const pageRows = "50";

/** Lines of curl for a table and the filter on screen. */
export function apiPreview(table, { filter, orderby }) {
  const address = `${location.origin}/tables/${encodeURIComponent(table)}`;
  const list = `${address}?${optionsOf({ $filter: filter, $orderby: orderby, $top: pageRows })}`;
  const one = shell(`${address}/ID`);
  const lines = [
    [words.curlList, `curl -s ${version} ${shell(list)}`],
    [words.curlInsert, `curl -s ${version} ${json} -d ${shell(words.curlItem)} ${shell(address)}`],
    [words.curlUpdate, `curl -s -X PATCH ${version} ${json} -d ${shell(words.curlChange)} ${one}`],
    [words.curlDelete, `curl -s -X DELETE ${version} ${one}`],
  ];
  return h("details", { class: "preview" },
    h("summary", {}, words.apiPreview),
    lines.map(([name, text]) => line(name, text)));
}

function optionsOf(options) {
  const given = Object.entries(options).filter(([, value]) => value);
  return given.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join("&");
}

function line(name, text) {
  return h("div", { class: "curl" }, h("span", {}, name), h("pre", { tabindex: "0" }, text),
    copyButton({ class: "small", "aria-label": `${words.copy}: ${name}` }, words.copy, () => text));
}
