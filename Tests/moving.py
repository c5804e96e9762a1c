"""Commands that move rows into a backend, and what there is then: for the tests of more than one file."""

import json
import subprocess

from programs import BINARY, SITE

OPEN = ("queued", "waiting", "sending", "unknown", "conflict", "quarantined")


def run(*arguments, expect=0, binary=BINARY, **options):
    done = subprocess.run([str(binary), *map(str, arguments)], capture_output=True, text=True, timeout=60,
                          **({"stdin": subprocess.DEVNULL} if "input" not in options else {}), **options)
    assert done.returncode == expect, (arguments, done)
    return done


def run_site(*arguments, **options):
    """Runs a command of `understudy-site`."""
    return run(*arguments, binary=SITE, **options)


def moved(*arguments, expect=0):
    return json.loads(run_site(*arguments, "--json", expect=expect).stdout)


def rows(server, table="todoitem"):
    """Every row of a server, tombstones too."""
    found, skip = {}, 0
    query = f"/tables/{table}?$top=1000&$orderby=id&__includeDeleted=true&$skip="
    while page := server.request("GET", query + str(skip)).json():
        found.update({row["id"]: row for row in page})
        skip += len(page)
    return found


def columns(found):
    own = ("version", "createdAt", "updatedAt")
    return {id: {name: value for name, value in row.items() if name not in own} for id, row in found.items()}


def open_operations(proxy):
    queue = proxy.status()["queue"]
    return {state: queue[state] for state in OPEN if queue[state]}
