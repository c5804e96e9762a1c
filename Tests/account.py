"""Compares what clients were promised with each state that the backend's rows ever had.

A trigger in the database keeps every state of every row. Each text is written by one write, so the states
tell which writes took effect, how often, and what each of them overwrote.
"""

import dataclasses
import datetime
import json
import math
from collections import Counter, defaultdict

from shared_rows import FIELDS, columns_of

TRIGGER = """
CREATE TABLE public.history (
  n bigserial PRIMARY KEY,
  at double precision NOT NULL DEFAULT extract(epoch FROM clock_timestamp()),
  kind text NOT NULL, id text NOT NULL, version text, deleted boolean, columns text);
CREATE FUNCTION public.keep_history() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN
    INSERT INTO public.history (kind, id) VALUES (TG_OP, OLD.id);
  ELSE
    INSERT INTO public.history (kind, id, version, deleted, columns)
    VALUES (TG_OP, NEW.id, NEW.version, NEW.deleted, NEW.columns);
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER keep_history AFTER INSERT OR UPDATE OR DELETE ON understudy.items
FOR EACH ROW EXECUTE FUNCTION public.keep_history();
"""


def seconds(instant):
    return datetime.datetime.fromisoformat(instant.replace("Z", "+00:00")).timestamp()


@dataclasses.dataclass
class Decision:
    """What a person chose in a conflict of a proxy."""

    proxy: int
    conflict: dict
    choice: str
    # What it causes may happen before its answer has come.
    began: float
    ended: float


class Account:
    """What a database has kept beside the journal of its clients."""

    def __init__(self, server, proxies, journal, decisions, conflicts, done):
        """`conflicts` are those that each proxy shows now, by its number, and what waits for them; `done` are
        the operations that proxies say are at the backend, each with its proxy."""
        read = "SELECT coalesce(json_agg(x), '[]') FROM ({}) AS x"
        states = json.loads(server.sql(read.format("SELECT * FROM public.history ORDER BY n")))
        self.effects = json.loads(server.sql(read.format(
            "SELECT item_id, kind, idempotency_key FROM understudy.effects ORDER BY number")))
        self.items = json.loads(server.sql(read.format(
            "SELECT id, deleted, columns, version FROM understudy.items ORDER BY id")))
        self.proxies = proxies
        self.journal = journal
        self.done = done
        self.by_row = defaultdict(list)
        for write in journal.writes:
            self.by_row[write.row].append(write)
        self.decisions = decisions
        self.states = defaultdict(list)
        for state in states:
            self.states[state["id"]].append(state)
        # The conflicts whose local side is not at the backend: open ones, and those decided against it.
        self.shown = [(proxy, conflict) for proxy, all in conflicts.items() for conflict in all]
        self.shown += [(one.proxy, one.conflict) for one in decisions if one.choice == "server"]
        # Each time that a text became a field's: when, and what it overwrote.
        self.arrivals = defaultdict(list)
        for states in self.states.values():
            before = {}
            for state in states:
                columns = columns_of(state["columns"] or "{}")
                for field in FIELDS:
                    if (text := columns.get(field)) is not None and text != before.get(field):
                        self.arrivals[text].append((state, before.get(field)))
                before = columns

    def complaints(self):
        """Everything that is not as it was promised, in words."""
        found = []
        for id, states in self.states.items():
            found += self.of_row(id, states)
        found += self.of_rows()
        found += self.of_effects()
        for text in self.arrivals:
            found += self.of_arrivals(text)
        for write in self.journal.writes:
            if write.is_acknowledged and not self.has(write) and not self.undid_nothing(write):
                found.append(f"acknowledged, and nowhere: {write}; {self.story(write.row)};"
                             f" its proxy: {self.operations(write)}")
        return found

    def story(self, id):
        """The states of a row and what people decided, for a message."""
        states = [(state["at"], state["deleted"], state["columns"]) for state in self.states.get(id, [])]
        return states, [(one.ended, one.proxy, one.choice, one.conflict) for one in self.decisions
                        if one.conflict["itemId"] == id]

    def operations(self, write):
        """What the proxy of a write says about its row, for a message."""
        names = ("id", "kind", "state", "reason", "createdAt", "closedAt", "lastStatus", "changedColumns")
        return [[one[name] for name in names] for one in self.operations_of(write)]

    def operations_of(self, write):
        path = f"/operations?state=all&limit=500&q={write.row}"
        return self.proxies[write.proxy].operator("GET", path)["items"]

    def undid_nothing(self, write):
        """Whether an undelete made no operation, since its proxy had the row or a delete that was not sent; or
        whether a delete took back an undelete that was not sent."""
        def is_during(instant):
            """Proxy and clients have one clock, of which the proxy keeps whole milliseconds."""
            return math.floor(write.began * 1000) / 1000 <= seconds(instant) <= write.ended

        if write.kind == "delete":
            return any(
                one["state"] == "collapsed" and one["kind"] == "undelete" and is_during(one["closedAt"])
                for one in self.operations_of(write))
        return write.kind == "undelete" and not any(
            one["kind"] != "delete" and is_during(one["createdAt"]) for one in self.operations_of(write))

    def of_row(self, id, states):
        """A row is inserted once and never removed, and goes and comes because somebody asked for it."""
        kinds = [state["kind"] for state in states]
        if kinds != ["INSERT"] + ["UPDATE"] * (len(kinds) - 1):
            yield f"{id} has the states {kinds}"
        for state in states:
            if problem := self.journal.misfit({"id": id, **columns_of(state["columns"] or "{}")}):
                yield problem
        for kind, mark in (("delete", True), ("undelete", False)):
            turns = [after for before, after in zip(states, states[1:])
                     if (before["deleted"], after["deleted"]) == (not mark, mark)]
            asked = [write.began for write in self.by_row[id]
                     if write.kind == kind and write.outcome != "refused"]
            asked += [one.began for one in self.decisions
                      if one.conflict["itemId"] == id and one.choice == "mine"]
            for count, turn in enumerate(turns, 1):
                if sum(began < turn["at"] for began in asked) < count:
                    yield f"{id}: {count} × {kind}, asked for at {asked}: {self.story(id)}"

    def of_rows(self):
        """Each insert has one row, each row its insert, and its last state is the row."""
        inserts = [write for write in self.journal.writes if write.kind == "insert"]
        for id, states in self.states.items():
            texts = columns_of(states[0]["columns"] or "{}").values()
            authors = {self.journal.by_text[text].row or id for text in texts if text in self.journal.by_text}
            if authors != {id}:
                yield f"{id} was inserted by {authors}"
            for text in texts:
                write = self.journal.by_text.get(text)
                if write and write.row is None:  # Its proxy gave the id, and its answer was lost.
                    write.row = id
        for write in inserts:
            texts = [text for text in write.fields.values() if text in self.arrivals]
            ids = {state["id"] for text in texts for state, _ in self.arrivals[text]}
            if len(ids) > 1:
                yield f"{write} made the rows {ids}"
        last = [{key: states[-1][key] for key in ("id", "deleted", "columns", "version")}
                for _, states in sorted(self.states.items())]
        if last != self.items:
            yield f"the rows {self.items} are not the last states {last}"

    def of_effects(self):
        """Each operation of a proxy takes effect once, and each effect is a state."""
        again = Counter(one.conflict["id"].lower() for one in self.decisions if one.choice == "mine")
        times = Counter((effect["idempotency_key"], effect["kind"]) for effect in self.effects)
        for (key, kind), count in times.items():
            if key is None:
                yield f"{count} × {kind} without a key"
            elif count > 1 + again[key.lower()]:
                yield f"the operation {key} took effect {count} times as {kind}"
        keys = {key.lower() for key, _ in times if key}
        for proxy, operation in self.done:
            if operation["id"].lower() in keys:
                continue
            # The row may have been as the operation wanted it.
            if operation["kind"] in ("delete", "undelete"):
                since, wanted = seconds(operation["createdAt"]), operation["kind"] == "delete"
                if not self.was_deleted(operation["itemId"], wanted, since):
                    yield f"done, and without effect: {operation}; {self.story(operation['itemId'])}"
                continue
            sent = proxy.operator("GET", f"/operations/{operation['id']}")["payload"] or {}
            if lost := [sent[field] for field in FIELDS if sent.get(field) not in (None, *self.arrivals)]:
                yield f"done, and {lost} never arrived: {operation}; {self.story(operation['itemId'])}"
        effects = Counter(effect["item_id"] for effect in self.effects)
        states = Counter({id: len(states) for id, states in self.states.items()})
        if effects != states:
            yield f"effects without a state {effects - states}, states without an effect {states - effects}"

    def of_arrivals(self, text):
        """A text comes once, was not refused, and overwrites only what its proxy had seen."""
        write, arrivals = self.journal.by_text.get(text), self.arrivals[text]
        if write is None:
            return
        # A person may have chosen it again, also at a proxy where somebody had brought the row back.
        again = [one.ended for one in self.decisions
                 if one.choice == "mine" and text in (one.conflict["mine"] or {}).values()]
        if write.outcome == "refused":
            yield f"refused, and at the backend: {write}"
        if len(arrivals) > 1 + len(again):
            yield f"at the backend {len(arrivals)} times: {write}; {self.story(write.row)}"
        latest = max([write.ended, *again])
        for state, before in arrivals:
            other = self.journal.by_text.get(before)
            if other is None or other.proxy == write.proxy:
                continue
            if self.arrivals[before][0][0]["at"] > latest:
                yield f"{write} overwrote unseen {other}: {self.story(write.row)}"

    def has(self, write):
        """Whether an acknowledged write is at the backend, or was overtaken or is shown at its own proxy."""
        return all([self.has_text(write, field, text) for field, text in write.fields.items()]) and (
            bool(write.fields) or self.has_turn(write))

    def has_text(self, write, field, text):
        if text in self.arrivals:
            return True
        for proxy, conflict in self.shown:
            if (proxy, conflict["itemId"]) == (write.proxy, write.row):
                if (conflict["mine"] or {}).get(field) == text:
                    return True
        return any(self.is_present(later, field) for later in self.later(write)
                   if later.kind == "delete" or field in later.fields)

    def is_present(self, later, field):
        """Whether a later write can have taken this one up: it has its own check, or left a trace."""
        if later.is_acknowledged or later.kind == "delete":
            return True
        text = later.fields[field]
        return text in self.arrivals or any(
            (conflict["mine"] or {}).get(field) == text for _, conflict in self.shown)

    def has_turn(self, write):
        """Whether the row was as a delete or an undelete wanted it, at some time after it was asked for."""
        wanted = write.kind == "delete"
        if self.was_deleted(write.row, wanted, write.began):
            return True
        if any((proxy, conflict["itemId"]) == (write.proxy, write.row) for proxy, conflict in self.shown):
            return True
        others = ("undelete", "insert", "update") if wanted else ("delete",)
        return any(later.kind in others for later in self.later(write))

    def was_deleted(self, id, wanted, since):
        """Whether a row was deleted, or was not, at some time after another one."""
        states = self.states.get(id, [])
        ends = [state["at"] for state in states[1:]] + [float("inf")]
        return (wanted and not states) or any(
            state["deleted"] == wanted and end > since for state, end in zip(states, ends))

    def later(self, write):
        """The writes of the same proxy to the same row that may have come after this one."""
        return [other for other in self.by_row[write.row]
                if other.proxy == write.proxy and other is not write and other.ended > write.began
                and other.outcome != "refused"]
