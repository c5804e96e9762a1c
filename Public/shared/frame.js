// What is around the views: the navigation, the tools at the top, whose rows are shown, and the card that
// takes the place of a view while the browser is not signed in.

import { forgetSession, identity, isReadOnly } from "./api.js";
import { button, byId, fill, h, note, options } from "./dom.js";
import { nextTheme, showKeys } from "./keys.js";
import { announce } from "./messages.js";
import { views, words } from "./words.js";

const themeSigns = { system: "◐", light: "☀", dark: "☾" };

export function drawNavigation() {
  fill(byId("nav"), Object.entries(views).map(([name, label]) =>
    h("a", { href: `#/${name}`, "data-view": name },
      h("span", { class: "reserve", "data-label": label }, label),
      h("span", { class: "badge", id: `badge-${name}`, hidden: true }))));
}

/** Marks the view that is on screen, in the navigation and in the title of the page. */
export function markView(name) {
  document.title = words.pageTitle(views[name]);
  for (const link of byId("nav").children) {
    if (link.getAttribute("data-view") === name) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
}

/** The buttons for the theme and the keyboard, and the place for whose rows are shown. */
export function drawTools() {
  const theme = button({ class: "quiet", onclick: nextTheme });
  const drawTheme = () => {
    const name = understudyTheme.read();
    theme.setAttribute("aria-label", words.theme(name));
    theme.title = words.theme(name);
    fill(theme, themeSigns[name]);
  };
  document.addEventListener("understudy-theme", drawTheme);
  drawTheme();
  const mark = h("span", { class: "quiet-text", title: words.readOnlyMeans }, words.readOnly);
  fill(byId("tools"), isReadOnly && mark, h("span", { id: "whose" }), theme,
    button({ class: "quiet", "aria-label": words.keys, title: words.keys, onclick: showKeys }, "?"));
}

/**
 * Whose rows are shown, where there are several identities; choosing another one opens its page.
 * @param {Status | null} status
 */
export function drawWhose(status) {
  const all = status?.identities ?? [];
  const shown = identity ?? "anonymous";
  if (all.length < 2 && shown === "anonymous") return;
  function onchange() {
    const name = choice.value;
    choice.value = shown; // A person who has unsaved text may stay on this page when the browser asks.
    openPageOf(name);
  }
  const choice = h("select", { "aria-label": words.whose, onchange },
    options([...new Set([...all, shown])].map((name) =>
      [name, name === "anonymous" ? words.withoutSignIn : name])));
  choice.value = shown;
  fill(byId("whose"), choice);
}

function openPageOf(name) {
  const address = new URL(location.href);
  if (name === "anonymous") address.searchParams.delete("identity");
  else address.searchParams.set("identity", name);
  location.assign(address);
}

export function showSignIn(problem) {
  forgetSession();
  fill(byId("main"), h("section", { class: "card narrow" },
    h("h1", {}, words.signInTitle), h("p", {}, words.signIn), h("pre", {}, words.signInCommand),
    note(problem.message)));
}

/** @type {PageLink} */
let noticed = "connected";

/**
 * The line at the bottom that says that the page lost its connection to the proxy, or its sign-in. It is
 * said once, and what is typed in the view stays.
 * @param {PageLink} link
 */
export function drawNotice(link) {
  if (link === noticed) return;
  noticed = link;
  const text = { connected: "", disconnected: words.disconnected, signedOut: words.signInAgain }[link];
  fill(byId("notice"), text && h("p", { class: "notice warning" }, text,
    link === "signedOut" && h("code", {}, words.signInCommand)));
  if (text) announce(text);
}
