// Starts the dashboard: shows the view that the address asks for and passes the events of the proxy to it.

import { decoded, operator, signInByLink } from "./shared/api.js";
import { conflictsView } from "./conflicts/conflicts.js";
import { paced } from "./shared/coalesce.js";
import { connection } from "./shared/connection.js";
import { byId, fill } from "./shared/dom.js";
import { askBeforeLeaving } from "./shared/drafts.js";
import { followEvents } from "./shared/events.js";
import { drawNavigation, drawNotice, drawTools, drawWhose, markView, showSignIn } from "./shared/frame.js";
import { historyView } from "./history/history.js";
import { followKeys } from "./shared/keys.js";
import { announce, showProblem } from "./shared/messages.js";
import { queueView } from "./queue/queue.js";
import { statusView } from "./status/status.js";
import { tablesView } from "./tables/tables.js";
import { todosView } from "./todos/todos.js";
import { words } from "./shared/words.js";

/** @type {Record<string, ViewMaker>} */
const makers = {
  todos: todosView,
  conflicts: conflictsView,
  queue: queueView,
  tables: tablesView,
  history: historyView,
  status: statusView,
};
const main = byId("main");
/** @type {{ name: string, view: View } | null} */
let current = null;

const hasLink = () => /^#link=/.test(location.hash);

/**
 * `#/queue/42?state=waiting` is the view `queue`, the rest `42`, the parameters `state=waiting`.
 * @returns {Route}
 */
function route() {
  const [path, parameters] = location.hash.replace(/^#\/?/, "").split("?");
  const [name, ...rest] = path.split("/");
  return {
    name: Object.hasOwn(makers, name) ? name : "todos",
    rest: rest.map(decoded),
    parameters: new URLSearchParams(parameters ?? ""),
  };
}

function show() {
  const asked = route();
  markView(asked.name);
  if (current?.name === asked.name) {
    current.view.navigate?.(asked);
    return;
  }
  current?.view.onLeave?.();
  fill(main);
  current = { name: asked.name, view: makers[asked.name](main, asked, header) };
}

function refresh() {
  header.refresh();
  current?.view.refresh();
}

async function start() {
  drawNavigation();
  askBeforeLeaving();
  followKeys({ view: () => current?.view, go: (place) => (location.hash = `#/${place}`) });
  addEventListener("hashchange", () => hasLink() || show());
  // The line at the top comes first: it moves what is below it.
  await header.load().catch(showProblem);
  drawWhose(header.status());
  show();
  follow();
}

function follow() {
  let wasDisconnected = false;
  const deliver = paced((kind, event) => {
    header.onEvent(kind);
    current?.view.onEvent(kind, event);
  });
  followEvents({
    onEvent: deliver,
    onReset: refresh,
    onConnected() {
      drawNotice("connected");
      header.setFollowing("connected");
      if (wasDisconnected) announce(words.reconnected);
      wasDisconnected = false;
      // Events from before the stream began were not received: the state is read again, also the first time.
      refresh();
    },
    onDisconnected(isSignedOut) {
      const link = isSignedOut ? "signedOut" : "disconnected";
      header.setFollowing(link);
      wasDisconnected = true;
      drawNotice(link);
    },
  });
}

drawTools();
const header = connection(byId("connection"));
addEventListener("hashchange", () => hasLink() && location.reload());
/** Why the link in the address was not accepted; null where it was, or where there was none. */
const linkProblem = await signInByLink().then(() => null, (problem) => problem);
try {
  await operator.get("/session");
  await start();
  if (linkProblem) showProblem(linkProblem);
} catch (problem) {
  if (problem.status === 401 || problem.status === 403) showSignIn(linkProblem ?? problem);
  else start();
}
