// Starts the dashboard: which view the address asks for, and who hears about which event.

import { forgetSession, operator, signInByLink } from "./api.js";
import { connection } from "./connection.js";
import { conflictsView } from "./conflicts.js";
import { announce, fill, h } from "./dom.js";
import { followEvents } from "./events.js";
import { historyView } from "./history.js";
import { queueView } from "./queue.js";
import { todosView } from "./todos.js";
import { views as viewNames, words } from "./words.js";

const makers = { todos: todosView, conflicts: conflictsView, queue: queueView, history: historyView };
const main = document.getElementById("main");
let current = null;

/** `#/queue/42?state=waiting` is the view `queue`, the rest `42`, the parameters `state=waiting`. */
function route() {
  const [path, parameters] = location.hash.replace(/^#\/?/, "").split("?");
  const [name, ...rest] = path.split("/");
  return {
    name: makers[name] ? name : "todos",
    rest: rest.map(decodeURIComponent),
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
  current = { name: asked.name, view: makers[asked.name](main, asked, { status: header.status }) };
}

function buildNavigation() {
  fill(
    document.getElementById("nav"),
    Object.entries(viewNames).map(([name, label]) =>
      h("a", { href: `#/${name}`, "data-view": name }, label, h("span", { class: "badge", id: `badge-${name}`, hidden: true })),
    ),
  );
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

function start() {
  buildNavigation();
  addEventListener("hashchange", () => /^#link=/.test(location.hash) || show());
  show();
  header.refresh();
  let wasDisconnected = false;
  followEvents({
    onEvent: (kind, event) => {
      header.hear(kind, event);
      current?.view.hear?.(kind, event);
    },
    onReset: () => {
      header.refresh();
      current?.view.refresh?.();
    },
    onConnected: () => {
      fill(notice);
      if (wasDisconnected) {
        announce(words.reconnected);
        header.refresh();
        current?.view.refresh?.();
      }
      wasDisconnected = false;
    },
    onDisconnected: () => {
      if (!wasDisconnected) announce(words.disconnected);
      wasDisconnected = true;
      fill(notice, h("p", { class: "notice warning" }, words.disconnected));
    },
  });
}

const header = connection(document.getElementById("connection"));
// A link may also be opened in a tab that already shows the dashboard.
addEventListener("hashchange", () => /^#link=/.test(location.hash) && location.reload());
try {
  await signInByLink();
  await operator.get("/session");
  start();
} catch (problem) {
  if (problem.status === 401 || problem.status === 403) showSignIn(problem);
  else start();
}
