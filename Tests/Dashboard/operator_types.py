#!/usr/bin/env python3
"""Prints TypeScript declarations of the operator API, made from its openapi.json.

With them the check of the dashboard's types compares every path, request and answer with that document. The
contract tests compare the document with real answers.
"""

import json
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCUMENT = ROOT / "Sources/Proxy/Operator/openapi.json"
ROOT_PATH = "/-/api/v1"
PLAIN = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}


def type_of(schema):
    """The TypeScript type of a JSON schema; `any` where the schema allows every value."""
    if "$ref" in schema:
        return schema["$ref"].rsplit("/", 1)[1]
    if "oneOf" in schema:
        return " | ".join(type_of(one) for one in schema["oneOf"])
    if "enum" in schema:
        return " | ".join(json.dumps(value) for value in schema["enum"])
    if isinstance(schema.get("type"), list):
        return " | ".join(type_of({**schema, "type": one}) for one in schema["type"])
    if schema.get("type") == "array":
        return f"Array<{type_of(schema['items'])}>"
    if schema.get("type") == "object":
        return object_of(schema)
    return PLAIN.get(schema.get("type"), "any")


def object_of(schema):
    required = schema.get("required", [])
    fields = [
        f"{name}{'' if name in required else '?'}: {type_of(field)}"
        for name, field in schema.get("properties", {}).items()
    ]
    return "{ " + "; ".join(fields or ["[name: string]: any"]) + " }"


def content_type(part):
    """The type of a request's or answer's JSON; `null` where it has none."""
    schema = part.get("content", {}).get("application/json", {}).get("schema")
    return type_of(schema) if schema else "null"


def answer_of(operation):
    return content_type(next(part for status, part in operation["responses"].items() if status[0] == "2"))


def chain(name, calls):
    """A conditional type that finds the type for a path. Paths with more parts come first, fixed parts before
    parameters: a path with a query matches the beginning of its own pattern."""
    lines = [f"type {name}<Path extends string> ="]
    for path, found in sorted(calls, key=lambda call: (-call[0].count("/"), call[0].replace("{", "~"))):
        pattern = re.sub(r"\{\w+\}", "${string}", path)
        lines.append(f"  Path extends `{pattern}` | `{pattern}?${{string}}` ? {found} :")
    return "\n".join([*lines, "  string extends Path ? any : never;"])


def main():
    document = json.loads(DOCUMENT.read_text())
    for name, schema in document["components"]["schemas"].items():
        print(f"type {name} = {type_of(schema)};")
    calls = {"get": [], "post": [], "patch": [], "delete": []}
    bodies = {"post": [], "patch": []}
    for path, operations in document["paths"].items():
        if not path.startswith(ROOT_PATH):
            continue
        for method, operation in operations.items():
            short = path.removeprefix(ROOT_PATH)
            if method in calls:
                calls[method].append((short, answer_of(operation)))
            if method in bodies:
                bodies[method].append((short, content_type(operation.get("requestBody", {}))))
    for method in calls:
        print(chain(f"AnswerOf{method.capitalize()}", calls[method]))
    for method in bodies:
        print(chain(f"BodyOf{method.capitalize()}", bodies[method]))


if __name__ == "__main__":
    main()
