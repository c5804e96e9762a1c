// Conflicts: what it was before, mine, the server's, and the result, field by field.

import { operator } from "./api.js";
import { marked, readable } from "./diff.js";
import { coalesce, fill, h, toast } from "./dom.js";
import { words } from "./words.js";

export function conflictsView(main, asked) {
  let list = [];
  let wanted = asked.rest[0] ?? null;
  let shown = null; // the conflict on screen, with the person's picks
  const page = h("section", { class: "page" });
  fill(main, page);

  async function load() {
    list = (await operator.get("/conflicts?limit=200")).items;
    const index = Math.max(0, list.findIndex((one) => one.id === wanted));
    const summary = list[index];
    if (!summary) {
      shown = null;
      return fill(page, h("h1", {}, "Conflicts"), h("p", { class: "empty" }, words.noConflicts));
    }
    if (shown?.id === summary.id && shown.revision === summary.revision) return drawPosition(index);
    const changed = shown?.id === summary.id;
    shown = summary;
    wanted = summary.id;
    draw(index);
    if (changed) toast(words.changedMeanwhile);
  }

  function headline(conflict) {
    const title = conflict.title ?? conflict.itemId;
    if (conflict.serverDeleted) return words.conflictDeletedThere(title);
    if (conflict.mineDeleted) return words.conflictDeletedHere(title);
    return words.conflictOf(title);
  }

  function drawPosition(index) {
    const place = page.querySelector(".position");
    if (place) fill(place, words.position(index + 1, list.length));
  }

  function draw(index) {
    const conflict = shown;
    const step = (by) => {
      wanted = list[(index + by + list.length) % list.length].id;
      location.hash = `#/conflicts/${encodeURIComponent(wanted)}`;
    };
    const fields = new Map();
    const deleted = conflict.serverDeleted || conflict.mineDeleted;
    const rows = conflict.fields.map((field) => fieldRow(field, fields, conflict));
    const same = Object.keys(conflict.mine ?? {}).length - conflict.fields.length;
    fill(
      page,
      h("div", { class: "bar" },
        h("span", { class: "position count" }, words.position(index + 1, list.length)),
        list.length > 1 && h("span", {},
          h("button", { type: "button", onclick: () => step(-1) }, words.previous), " ",
          h("button", { type: "button", onclick: () => step(1) }, words.next))),
      h("article", { class: "card conflict", "aria-labelledby": "conflict-title" },
        h("h1", { id: "conflict-title" }, headline(conflict)),
        rows.length > 0 && h("div", { class: "scroll", tabindex: "0", role: "region", "aria-labelledby": "conflict-title" },
          h("table", { class: "sides" },
            h("thead", {}, h("tr", {}, [words.field, words.base, words.mine, words.server, words.result].map((name) => h("th", { scope: "col" }, name)))),
            h("tbody", {}, rows))),
        !deleted && same > 0 && h("p", { class: "quiet-text" }, words.sameFields(same)),
        h("div", { class: "actions" },
          h("button", { type: "button", onclick: () => decide("mine") }, words.keepMine),
          h("button", { type: "button", onclick: () => decide("server") }, words.keepServer),
          !deleted && h("button", { type: "button", class: "primary", onclick: () => decideEdited(fields) }, words.useResult),
          !conflict.mineDeleted && h("button", { type: "button", onclick: () => decide("both") }, words.keepBoth),
          h("a", { class: "button", href: "#/todos" }, words.notNow))),
    );
  }

  function fieldRow(field, fields, conflict) {
    // Where both sides changed a field the person's own words are the start, so that none is lost.
    const proposed = conflict.proposed?.[field.name];
    const start = field.overlaps || proposed === undefined ? field.mine : proposed;
    const isText = [field.base, field.mine, field.server].every((value) => value === undefined || value === null || typeof value === "string");
    const result = h("textarea", { rows: "2", "aria-label": `${words.result}: ${field.name}` });
    const set = (value) => (result.value = readable(value) ?? "");
    set(start);
    fields.set(field.name, { input: result, isText, original: field });
    const side = (value, other, gone, use) => {
      const text = readable(value);
      return h("td", {},
        gone ? h("em", {}, words.deletedSide) : text === null ? h("em", {}, words.absent) : h("div", { class: "value" }, marked(text, readable(other))),
        use && !gone && h("button", { type: "button", class: "small", "aria-label": use.label, onclick: () => set(value) }, "→"));
    };
    return h("tr", { class: field.overlaps ? "overlaps" : "" },
      h("th", { scope: "row" }, field.name),
      side(field.base, undefined, false, null),
      side(field.mine, field.base, conflict.mineDeleted, { label: words.useMine(field.name) }),
      side(field.server, field.base, conflict.serverDeleted, { label: words.useServer(field.name) }),
      h("td", {}, result));
  }

  async function decide(choice, item) {
    const conflict = shown;
    try {
      await operator.post(`/conflicts/${encodeURIComponent(conflict.id)}/resolve`, {
        revision: conflict.revision,
        choice,
        ...(item ? { item } : {}),
      });
      toast(words.resolved);
    } catch (problem) {
      toast(problem.code === "operation-changed" ? words.changedMeanwhile : problem.message);
    }
    shown = null;
    refresh();
  }

  function decideEdited(fields) {
    const item = {};
    for (const [name, { input, isText }] of fields) {
      if (isText) {
        item[name] = input.value;
        continue;
      }
      try {
        item[name] = JSON.parse(input.value);
      } catch {
        input.focus();
        return toast(words.invalidResult(name));
      }
    }
    return decide("edited", item);
  }

  const refresh = coalesce(() => load().catch((problem) => toast(problem.message)));
  refresh();
  return {
    refresh,
    navigate(next) {
      wanted = next.rest[0] ?? null;
      refresh();
    },
    hear(kind) {
      if (kind === "conflict" || kind === "operation") refresh();
    },
  };
}
