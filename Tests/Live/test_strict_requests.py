"""The operator API of the real program takes only what openapi.json describes.

Every body is sent with each place misspelt, doubled, null and mistyped, and every query with wrong parameters:
each is 400 with its place, and nothing changes. The requests are made from the document that the program serves.
"""

import json

import pytest
import requests

KINDS = {"null": None, "boolean": False, "integer": 2, "string": "true", "array": [], "object": {}}


class Members(list):
    """An object as pairs, so that it can have a name twice."""


@pytest.fixture(scope="module")
def proxy(start_shared):
    """Rows, a queue, a conflict and a history."""
    backend = start_shared.backend()
    proxy = start_shared.proxy(backend.url, "--sync", "manual")
    for id in ("a", "b", "eggs"):
        proxy.insert({"id": id, "text": "first"})
    proxy.sync()
    proxy.update("eggs", {"text": "mine"})
    backend.update("eggs", {"text": "theirs"})
    proxy.sync()
    proxy.update("a", {"text": "queued"})
    proxy.operator("POST", "/access", expect=201, json={"name": "phone"})
    return proxy


class Document:
    def __init__(self, proxy):
        self.proxy = proxy
        self.value = requests.get(proxy.url + "/-/openapi.json", timeout=10).json()
        self.queued = proxy.operator("GET", "/operations?state=queued")["items"][0]
        self.conflict = proxy.operator("GET", "/conflicts")["items"][0]

    def operations(self):
        for path, methods in self.value["paths"].items():
            for method, operation in methods.items():
                if path.startswith("/-/api/v1/"):
                    yield method.upper(), path, operation

    def resolved(self, schema):
        while "$ref" in schema:
            found = self.value
            for name in schema["$ref"][2:].split("/"):
                found = found[name]
            schema = found
        return schema

    def one(self, path):
        return self.conflict if "/conflicts/" in path else self.queued

    def target(self, path):
        filled = path.replace("{table}", "todoitem").replace("{name}", "phone")
        return filled.replace("{id}", self.one(path)["id"])

    def example(self, schema, path, place=()):
        schema = self.resolved(schema)
        given = {"revision": self.one(path)["revision"], "query": "$filter=id eq 'b'", "after": "c1"}
        if len(place) == 1 and place[0] in given:
            return given[place[0]]
        for word in ("enum", "examples"):
            if word in schema:
                return schema[word][0]
        if "properties" in schema:
            return Members(
                (one, self.example(part, path, (*place, one))) for one, part in schema["properties"].items())
        kind = schema["type"] if isinstance(schema["type"], str) else schema["type"][0]
        if kind == "array":
            return [self.example(schema["items"], path, (*place, 0))]
        return {"boolean": True, "integer": schema.get("minimum", 1), "string": "todoitem",
                "object": {"text": "changed"}}[kind]

    def places(self, schema, place=()):
        """Every place below a schema's, with its own schema."""
        schema = self.resolved(schema)
        parts = schema["properties"].items() if "properties" in schema else (
            [(0, schema["items"])] if "items" in schema else [])
        for name, part in parts:
            yield (*place, name), part
            yield from self.places(part, (*place, name))

    def misfits(self, schema):
        schema = self.resolved(schema)
        allowed = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        yield from (value for kind, value in KINDS.items() if kind not in allowed)
        if "integer" in allowed:
            yield 1.5
        if "minimum" in schema:
            yield schema["minimum"] - 1
        if "maximum" in schema:
            yield schema["maximum"] + 1
        if "minLength" in schema:
            yield ""
        if "minItems" in schema:
            yield []
        if "enum" in schema or "format" in schema:
            yield "sideways"

    def wrong_bodies(self, path, schema):
        """Bodies that are wrong in one place, and the place as a JSON pointer."""
        right = self.example(schema, path)
        for value in self.misfits(schema):
            yield value, ""
        for place, part in self.places(schema):
            for value in self.misfits(part):
                yield changed(right, place, lambda name: [(name, value)]), pointer(place)
            if isinstance(place[-1], int):
                continue
            value = self.example(part, path, place)
            yield changed(right, place, lambda name: [(name, value)] * 2), pointer(place)
            misspelt = place[-1] + "x"
            yield changed(right, place, lambda _: [(misspelt, value)]), pointer((*place[:-1], misspelt))

    def shown(self):
        """All that the operator API shows."""
        paths = ["/operations?state=all", "/conflicts", "/history", "/runs", "/tables", "/settings",
                 "/access", "/sessions", "/tables/todoitem/items"]
        status = self.proxy.status()
        return [self.proxy.operator("GET", path) for path in paths] + [
            status[name] for name in ("mode", "queue", "ledger")]


def pointer(place):
    return "".join(f"/{name}" for name in place)


def changed(value, place, make):
    """The value with other members at a place."""
    name, *rest = place
    if isinstance(name, int):
        return [changed(value[0], rest, make) if rest else make(name)[0][1]]
    if not rest:
        return Members(pair for old in value for pair in (make(name) if old[0] == name else [old]))
    return Members((old, changed(part, rest, make) if old == name else part) for old, part in value)


def text(value):
    """JSON, with names that may repeat."""
    if isinstance(value, Members):
        return "{" + ",".join(f"{json.dumps(name)}:{text(part)}" for name, part in value) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(text, value)) + "]"
    return json.dumps(value)


def send(proxy, method, target, body=None):
    headers = {"Authorization": f"Bearer {proxy.token}", "Content-Type": "application/json"}
    return requests.request(method, proxy.url + target, data=body, headers=headers, timeout=20)


def test_no_wrong_body_changes_anything(proxy):
    document = Document(proxy)
    before = document.shown()
    sent = 0
    for method, path, operation in document.operations():
        if "requestBody" not in operation:
            continue
        schema = operation["requestBody"]["content"]["application/json"]["schema"]
        for body, place in document.wrong_bodies(path, schema):
            answer = send(proxy, method, document.target(path), text(body))
            about = f"{method} {path} {text(body)}: {answer.text}"
            assert answer.status_code == 400, about
            assert answer.json()["pointer"] == place, about
            sent += 1
        if operation["requestBody"].get("required"):
            assert send(proxy, method, document.target(path)).status_code == 400
    assert sent > 400
    assert document.shown() == before


def test_no_wrong_parameter_changes_anything(proxy):
    document = Document(proxy)
    before = document.shown()
    for method, path, operation in document.operations():
        names = [document.resolved(one) for one in operation.get("parameters", [])]
        names = [one for one in names if one["in"] == "query"]
        wrong = ["nothing=1", "Identity=anonymous"] + [f"{one['name']}=1&{one['name']}=1" for one in names]
        wrong += [f"{one['name']}=x" for one in names if one["schema"]["type"] in ("integer", "boolean")]
        if any(one["name"] == "after" for one in names) and not path.endswith(("/set-aside", "/server-rows")):
            wrong.append("after=garbage")
        for query in wrong:
            answer = send(proxy, method, f"{document.target(path)}?{query}")
            about = f"{method} {path}?{query}: {answer.text}"
            assert answer.status_code == 400, about
            assert answer.json()["parameter"] == query.split("=")[0], about
    assert document.shown() == before


@pytest.mark.parametrize("target, body", [
    ("operations/discard", '{"filter":{"state":"quarantined"}}'), ("operations/discard", '{"filter":{}}'),
    ("operations/discard", '{"filter":{},"dryRun":"true"}'), ("operations/discard", '{"fliter":{}}'),
    ("operations/discard", '{"filter":{"table":["x"]}}'), ("tables/todoitem/purge", "{}"),
    ("operations/discard", '{"filter":{"q":" "}}'), ("operations/discard", '{"filter":{"reason":""}}'),
    ("tables/todoitem/purge", '{"force":true,"query":["$filter=id eq \'a\'"]}'),
    ("tables/todoitem/purge", '{"force":true,"query":""}'),
    ("conflicts/resolve", '{"choice":"mine","filter":{}}'),
])
def test_what_would_take_everything_is_refused(proxy, target, body):
    before = Document(proxy).shown()
    answer = send(proxy, "POST", f"/-/api/v1/{target}", body)
    assert answer.status_code == 400, answer.text
    assert Document(proxy).shown() == before


def test_a_setting_that_there_is_not_is_named_with_the_nearest(proxy):
    before = proxy.operator("GET", "/settings")
    said = proxy.command("settings", "set", "intervalSecond=60")
    assert said.returncode == 2
    assert "did you mean intervalSeconds?" in said.stderr
    said = proxy.command("settings", "set", "intervalSeconds=60", "intervalSeconds=70")
    assert said.returncode == 2 and "/intervalSeconds is there twice" in said.stderr
    assert proxy.operator("GET", "/settings") == before


@pytest.mark.parametrize("words", [
    ["queue", "discard", "--all", "--table", "", "--yes"],
    ["queue", "discard", "--all", "--text", "", "--yes"],
    ["queue", "discard", "--all", "--state", "", "--yes"],
    ["queue", "retry", "--all", "--state", ","],
    ["conflicts", "resolve-all", "mine", "--table", "", "--yes"],
    ["purge", "todoitem", "--query", "", "--yes"],
    ["queue", "list", "--after", "garbage"],
    ["queue", "list", "--table", ""],
    ["queue", "list", "--text", ""],
    ["queue", "groups", "--reason", ""],
    ["queue", "list", "--limit", "0"],
    ["queue", "list", "--state", "foo"],
    ["offline", "--for", "99999999999"],
    ["tables", "set", "todoitem", "--conflict", "foo"],
])
def test_a_wrong_or_empty_option_of_a_command_is_named_and_is_not_all(proxy, words):
    before = Document(proxy).shown()
    said = proxy.command(*words)
    option = next(word for word in words if word.startswith("--") and word != "--all")
    assert said.returncode == 2 and option in said.stderr and "must be" in said.stderr, said
    assert Document(proxy).shown() == before
