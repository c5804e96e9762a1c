"""A small server of the Azure Mobile Apps for Node kind, with the scripts of a team's app.

It answers the forms of the protocol that the SDKs send as the recorded server does (node-server-answers.txt): soft
deletion, versions that count, 412 with the row, 409, 401 as text, columns that are null where nothing was written.

The scripts of the table `todoitem`, which asks for a sign-in:

- an insert and an update stamp `changedBy` with the user, and write `place` in capitals;
- a text with "forbidden" is refused with 403 in text/html, one with "invalid" with 400 in JSON;
- a text with "slow" takes a while;
- reads leave out the column `secret`.
"""

import base64
import datetime
import json
import re
import threading
import time
import urllib.parse
import uuid

from hostile import HTTPBackend

FIRST = datetime.datetime(2026, 1, 1, tzinfo=datetime.timezone.utc)
SYSTEM = ("id", "createdAt", "updatedAt", "version", "deleted")
MISSING = {"error": "The item does not exist"}
PAGE, MOST = 50, 1000


class Answer(Exception):
    """An answer that ends the work on a request."""

    def __init__(self, status, body, kind="application/json; charset=utf-8", **fields):
        super().__init__(status)
        self.status, self.kind, self.fields = status, kind, fields
        self.body = body.encode() if isinstance(body, str) else json.dumps(body).encode()


class Filter:
    """`$filter` with comparisons, `and`, `or`, `not` and parentheses."""

    TOKEN = re.compile(
        r"\s*(?:(datetimeoffset|datetime)?'((?:[^']|'')*)'|([()])|(-?\d+(?:\.\d+)?)|([A-Za-z_]\w*))", re.A)
    COMPARE = {"eq": "==", "ne": "!=", "gt": ">", "ge": ">=", "lt": "<", "le": "<="}
    WORDS = {"and": " and ", "or": " or ", "not": " not ", "true": "True", "false": "False", "null": "None"}

    def __init__(self, text):
        python, place, self.values = "", 0, []
        while place < len(text.rstrip()):
            token = self.TOKEN.match(text, place)
            if not token:
                raise Answer(500, {"error": "Unable to parse the filter"})
            place = token.end()
            date, string, bracket, number, word = token.groups()
            if string is not None:
                string = string.replace("''", "'")
                self.values.append(instant(string) if date else string)
                python += f"values[{len(self.values) - 1}]"
            elif word in self.COMPARE:
                python += f" {self.COMPARE[word]} "
            elif word:
                python += self.WORDS.get(word) or f"row[{word!r}]"
            else:
                python += bracket or number
        self.code = compile(python.strip(), "filter", "eval")

    def takes(self, row):
        try:
            return bool(eval(self.code, {"row": Shown(row), "values": self.values, "__builtins__": {}}))
        except TypeError:  # A comparison with null.
            return False


class Shown(dict):
    """A row for a filter: its times as instants, and null for a column that it lacks."""

    def __missing__(self, name):
        return None

    def __getitem__(self, name):
        value = self.get(name)
        return instant(value) if name in ("createdAt", "updatedAt") and value else value


def instant(text):
    """A time with any number of digits; those below a microsecond are cut."""
    text = re.sub(r"(\.\d{6})\d+", r"\1", text.replace("Z", "+00:00"))
    return datetime.datetime.fromisoformat(text)


def version(number):
    return base64.b64encode(str(number).encode()).decode()


class Table:
    def __init__(self, is_soft, needs_user=False, is_scripted=False, is_numbered=False):
        self.is_soft, self.needs_user, self.is_scripted = is_soft, needs_user, is_scripted
        # Whether the server gives the ids, which are numbers.
        self.is_numbered = is_numbered
        # The rows by id. `number` counts the effects on a row.
        self.rows, self.numbers, self.columns = {}, {}, []

    def whole(self, row):
        """A row as SQL gives it: with all columns of the table."""
        return {name: row.get(name) for name in [*SYSTEM, *self.columns]}

    def read(self, row):
        """A row as the script for reads gives it."""
        hidden = ("secret",) if self.is_scripted else ()
        return {name: value for name, value in self.whole(row).items() if name not in hidden}


class NodeServer:
    """`tables` has the rows. A token is good until `end_sign_ins`."""

    def __init__(self):
        self.tables = {
            "todoitem": Table(True, needs_user=True, is_scripted=True), "notes": Table(False),
            "numbers": Table(False, is_numbered=True)}
        self.users, self.lock, self.ticks, self.logins = {}, threading.RLock(), 0, 0
        self.server = HTTPBackend(self.behave)
        self.url = self.server.url

    def stop(self):
        self.server.shutdown()
        self.server.server_close()

    def end_sign_ins(self, user):
        """A user's tokens are no longer taken."""
        with self.lock:
            self.users = {token: one for token, one in self.users.items() if one != user}

    def behave(self, handler, body):
        try:
            self.answer(handler, body)
        except Answer as answer:
            fields = {"Content-Type": answer.kind, "x-zumo-server-version": "node-3.0.0", **answer.fields}
            handler.answer(answer.status, answer.body, fields)

    def answer(self, handler, body):
        target = urllib.parse.urlsplit(handler.path)
        parts = [urllib.parse.unquote(part) for part in target.path.strip("/").split("/")]
        query = dict(urllib.parse.parse_qsl(target.query))
        given = handler.headers.get("X-ZUMO-AUTH")
        if parts[:2] == [".auth", "login"]:
            self.sign_in(json.loads(body)["access_token"])
        user = self.users.get(given)
        if given and not user:
            raise Answer(401, {"name": "TokenExpiredError"})
        if parts == ["api", "completeall"] and handler.command == "POST":
            self.complete_all()
        table = self.tables.get(parts[1].lower()) if parts[0].lower() == "tables" and len(parts) in (2, 3) else None
        if table is None:
            raise Answer(404, f"Cannot {handler.command} {target.path}", "text/html; charset=utf-8")
        if table.needs_user and not user:
            raise Answer(401, "You must be logged in to use this application", "text/html; charset=utf-8")
        item = json.loads(body) if body else {}
        if "slow" in str(item.get("text")):
            time.sleep(0.3)
        with self.lock:
            condition = re.fullmatch(r'"(.*)"', handler.headers.get("If-Match") or "")
            work = {("GET", 2): self.list, ("GET", 3): self.get, ("POST", 2): self.insert, ("POST", 3): self.undelete,
                    ("PATCH", 3): self.update, ("DELETE", 3): self.delete}.get((handler.command, len(parts)))
            if work is None:
                raise Answer(405, "Method is not allowed", "text/html; charset=utf-8")
            work(table, parts[2] if len(parts) == 3 else None, query, item, condition and condition[1], user)

    def sign_in(self, user):
        with self.lock:
            self.logins += 1
            claims = {"sub": user, "jti": self.logins, "iss": "urn:afternoon", "exp": int(time.time()) + 3600}
            parts = [b'{"alg":"none"}', json.dumps(claims).encode(), b"signature"]
            token = ".".join(base64.urlsafe_b64encode(part).decode().rstrip("=") for part in parts)
            self.users[token] = user
        raise Answer(200, {"authenticationToken": token, "user": {"userId": user}})

    def complete_all(self):
        """The custom API of the classic sample: marks all items as complete."""
        with self.lock:
            table, count = self.tables["todoitem"], 0
            for row in table.rows.values():
                if not row["deleted"] and row.get("complete") is not True:
                    row["complete"] = True
                    self.touch(table, row)
                    count += 1
        raise Answer(200, {"count": count})

    def touch(self, table, row):
        self.ticks += 1
        now = max(datetime.datetime.now(datetime.timezone.utc), FIRST + datetime.timedelta(milliseconds=self.ticks))
        stamp = max([now] + [instant(one["updatedAt"]) + datetime.timedelta(milliseconds=1)
                             for one in table.rows.values() if one.get("updatedAt")])
        row["updatedAt"] = stamp.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        row.setdefault("createdAt", row["updatedAt"])
        table.numbers[row["id"]] = table.numbers.get(row["id"], 0) + 1
        row["version"] = version(table.numbers[row["id"]])

    @staticmethod
    def script(table, item, user):
        """What the app's script does to an insert and an update."""
        if not table.is_scripted:
            return item
        text = str(item.get("text"))
        if "forbidden" in text:
            raise Answer(403, "only the owner may do this", "text/html; charset=utf-8")
        if "invalid" in text:
            raise Answer(400, {"error": "text is invalid"})
        item = {**item, "changedBy": user}
        if item.get("place"):
            item["place"] = item["place"].upper()
        return item

    @staticmethod
    def learn(table, item):
        table.columns += [name for name in item if name not in (*SYSTEM, *table.columns)]

    @staticmethod
    def single(status, row):
        return Answer(status, row, ETag=f'"{row["version"]}"')

    def list(self, table, _, query, *__):
        rows = [row for row in table.rows.values() if not row["deleted"] or "__includeDeleted" in query]
        if int(query.get("$top", 0)) > MOST:
            raise Answer(400, {"error": f"You cannot request more than {MOST} records"})
        if "$filter" in query:
            wanted = Filter(query["$filter"])
            rows = [row for row in rows if wanted.takes(row)]
        for term in reversed((query.get("$orderby") or "id").split(",")):
            name, _, direction = term.strip().partition(" ")
            rows.sort(key=lambda row: (row.get(name) is not None, row.get(name) or ""), reverse=direction == "desc")
        count, skip, top = len(rows), int(query.get("$skip", 0)), int(query.get("$top", MOST))
        page = [table.read(row) for row in rows[skip:skip + min(top, PAGE)]]
        if "$select" in query:
            names = [name.strip() for name in query["$select"].split(",")]
            page = [{name: row.get(name) for name in names} for row in page]
        fields = {}
        if len(page) == PAGE < top:
            pairs = {**query, "$top": top - PAGE, "$skip": skip + PAGE}
            fields["Link"] = f"{self.url}/tables/todoitem?{urllib.parse.urlencode(pairs)}; rel=next"
        raise Answer(200, {"results": page, "count": count} if "$inlinecount" in query else page, **fields)

    def get(self, table, id, *_):
        row = table.rows.get(id)
        if row is None or row["deleted"]:
            raise Answer(404, MISSING)
        shown = table.read(row)
        raise Answer(200, shown, ETag=f'"{row["version"]}"')

    def insert(self, table, _, __, item, ___, user):
        written = self.script(table, item, user)
        written["id"] = (
            len(table.numbers) + 1 if table.is_numbered else written.get("id") or str(uuid.uuid4()))
        if written["id"] in table.rows:
            raise Answer(409, item)
        self.learn(table, written)
        row = {**{name: written[name] for name in written if name not in SYSTEM[1:]}, "deleted": False}
        table.rows[row["id"]] = row
        self.touch(table, row)
        raise self.single(201, table.whole(row))

    def present(self, table, id, condition):
        row = table.rows.get(id)
        if row is None:
            raise Answer(404, MISSING)
        if condition and condition != row["version"]:
            raise self.single(412, table.whole(row))
        return row

    def update(self, table, id, _, item, condition, user):
        written = self.script(table, item, user)
        row = self.present(table, id, condition)
        self.learn(table, written)
        row |= {name: value for name, value in written.items() if name not in SYSTEM}
        self.touch(table, row)
        raise self.single(200, table.whole(row))

    def delete(self, table, id, _, __, condition, ___):
        row = self.present(table, id, condition)
        if row["deleted"]:
            raise self.single(409, table.whole(row))
        if table.is_soft:
            row["deleted"] = True
            self.touch(table, row)
        else:
            del table.rows[id]
        raise self.single(200, table.whole(row))

    def undelete(self, table, id, _, __, condition, ___):
        row = self.present(table, id, condition)
        if not table.is_soft:
            raise Answer(404, MISSING)
        row["deleted"] = False
        self.touch(table, row)
        raise self.single(201, table.whole(row))

    def everything(self):
        """All rows of all tables, and how many effects each had, without what a server makes itself."""
        with self.lock:
            return {
                f"{name}/{id}": (table.numbers[id], row["deleted"], {
                    column: value for column, value in table.whole(row).items() if column not in SYSTEM})
                for name, table in self.tables.items() for id, row in table.rows.items()}
