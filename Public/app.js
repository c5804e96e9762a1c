// Starts the dashboard: which view the address asks for, and who hears about which event.

import { decoded, forgetSession, identity, operator, signInByLink } from "./api.js";
import { connection } from "./connection.js";
import { conflictsView } from "./conflicts.js";
import { announce, fill, h, toast } from "./dom.js";
import { followEvents } from "./events.js";
import { historyView } from "./history.js";
import { followKeys, nextTheme, showKeys } from "./keys.js";
import { queueView } from "./queue.js";
import { statusView } from "./status.js";
import { tablesView } from "./tables.js";
import { todosView } from "./todos.js";
import { views as viewNames, words } from "./words.js";

const makers = {
  todos: todosView, conflicts: conflictsView, queue: queueView, tables: tablesView, history: historyView, status: statusView,
};
const main = document.getElementById("main");
let current = null;

/** `#/queue/42?state=waiting` is the view `queue`, the rest `42`, the parameters `state=waiting`. */
function route() {
  const [path, parameters] = location.hash.replace(/^#\/?/, "").split("?");
  const [name, ...rest] = path.split("/");
  return {
    name: makers[name] ? name : "todos",
    rest: rest.map(decoded),
    parameters: new URLSearchParams(parameters ?? ""),
  };
}

function show() {
  const asked = route();
  document.title = `${viewNames[asked.name]} – Understudy`;
  for (const link of document.querySelectorAll("#nav a")) {
    if (link.dataset.view === asked.name) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  if (current?.name === asked.name) return current.view.navigate?.(asked);
  current?.view.leave?.();
  fill(main);
  current = { name: asked.name, view: makers[asked.name](main, asked, header) };
}

function buildNavigation() {
  fill(
    document.getElementById("nav"),
    Object.entries(viewNames).map(([name, label]) =>
      h("a", { href: `#/${name}`, "data-view": name }, label, h("span", { class: "badge", id: `badge-${name}`, hidden: true })),
    ),
  );
}

function buildTools() {
  const theme = h("button", { type: "button", class: "quiet", onclick: nextTheme });
  const say = () => {
    const name = understudyTheme.read();
    theme.setAttribute("aria-label", words.theme(name));
    theme.title = words.theme(name);
    fill(theme, { system: "◐", light: "☀", dark: "☾" }[name]);
  };
  document.addEventListener("understudy-theme", say);
  say();
  fill(document.getElementById("tools"), h("span", { id: "whose" }), theme,
    h("button", { type: "button", class: "quiet", "aria-label": words.keys, title: words.keys, onclick: showKeys }, "?"));
}

/** Whose rows are shown, where there are several identities; choosing another one opens its page. */
function drawWhose() {
  const all = header.status()?.identities ?? [];
  const shown = identity ?? "anonymous";
  if (all.length < 2 && shown === "anonymous") return;
  const choice = h("select", { "aria-label": words.whose, onchange: () => {
    const address = new URL(location.href);
    if (choice.value === "anonymous") address.searchParams.delete("identity");
    else address.searchParams.set("identity", choice.value);
    location.assign(address);
  } }, [...new Set([...all, shown])].map((name) => h("option", { value: name }, name === "anonymous" ? words.nobody : name)));
  choice.value = shown;
  fill(document.getElementById("whose"), choice);
}

function showSignIn(problem) {
  forgetSession();
  fill(
    main,
    h("section", { class: "card narrow" },
      h("h1", {}, words.signInTitle), h("p", {}, words.signIn), h("pre", {}, "understudy open"),
      h("p", { class: "quiet-text" }, problem.message)),
  );
}

const notice = document.getElementById("notice");

async function start() {
  buildNavigation();
  followKeys({ view: () => current?.view, go: (place) => (location.hash = `#/${place}`) });
  addEventListener("hashchange", () => /^#link=/.test(location.hash) || show());
  // The line at the top first: what comes later would move what a person already reads.
  await header.load().catch((problem) => toast(problem.message));
  drawWhose();
  show();
  let wasDisconnected = false;
  followEvents({
    onEvent: (kind, event) => {
      header.hear(kind);
      current?.view.hear?.(kind, event);
    },
    onReset: () => {
      header.refresh();
      current?.view.refresh?.();
    },
    onConnected: () => {
      fill(notice);
      if (wasDisconnected) announce(words.reconnected);
      // Events from before the stream began were not received: read the state again, also the first time.
      header.refresh();
      current?.view.refresh?.();
      wasDisconnected = false;
    },
    onDisconnected: () => {
      if (!wasDisconnected) announce(words.disconnected);
      wasDisconnected = true;
      fill(notice, h("p", { class: "notice warning" }, words.disconnected));
    },
  });
}

buildTools();
const header = connection(document.getElementById("connection"));
// A link may also be opened in a tab that already shows the dashboard.
addEventListener("hashchange", () => /^#link=/.test(location.hash) && location.reload());
const refused = (problem) => problem.status === 401 || problem.status === 403;
/** Why the link in the address was not taken; null where it was, or where there was none. */
const linkProblem = await signInByLink().then(() => null, (problem) => problem);
try {
  await operator.get("/session");
  await start();
  if (linkProblem) toast(linkProblem.message);
} catch (problem) {
  if (refused(problem)) showSignIn(linkProblem ?? problem);
  else start();
}
