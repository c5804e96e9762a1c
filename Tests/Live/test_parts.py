"""Tables that are copied in part: `--table 'todoitem?$filter=…'`."""

import pytest

PART = "todoitem?$filter=complete eq false"
OPEN = "complete eq false"


@pytest.fixture
def part(start):
    backend = start.backend()
    for n in range(6):
        backend.insert({"id": f"r{n}", "text": f"row {n}", "complete": n >= 3})
    proxy = start.proxy(backend.url, "--table", PART, "--sync", "manual")
    assert proxy.sync()["state"] == "complete"
    return backend, proxy


def here(proxy):
    rows = proxy.operator("GET", "/tables/todoitem/items")["items"]
    return sorted(row["item"]["id"] for row in rows)


def ids(answer):
    return sorted(row["id"] for row in answer.json())


def get(proxy, **parameters):
    query = {k.replace("_", "$", 1) if k in ("_filter", "_orderby", "_top") else k: v
             for k, v in parameters.items()}
    return proxy.request("GET", "/tables/todoitem", params=query)


def test_only_the_part_is_copied_and_the_rest_is_the_backends(part):
    backend, proxy = part
    assert here(proxy) == ["r0", "r1", "r2"]
    everything = get(proxy)
    assert ids(everything) == [f"r{n}" for n in range(6)]
    assert "Understudy-Complete" not in everything.headers
    assert ids(get(proxy, _filter="complete eq true")) == ["r3", "r4", "r5"]
    assert proxy.get("r4").json()["text"] == "row 4"
    # A row that is only read is not kept.
    assert here(proxy) == ["r0", "r1", "r2"]
    backend.stop()
    within = get(proxy, _filter=f"({OPEN}) and text ne 'row 1'")
    assert (within.status_code, ids(within)) == (200, ["r0", "r2"])
    assert "Understudy-Complete" not in within.headers
    beyond = get(proxy)
    assert (beyond.status_code, beyond.headers["Understudy-Complete"]) == (200, "no")
    assert ids(beyond) == ["r0", "r1", "r2"]
    assert get(proxy, _filter="complete eq true").status_code == 503
    assert proxy.get("r1").status_code == 200
    assert proxy.get("r4").status_code == 503
    assert proxy.get("nothing").status_code == 503


def test_a_sync_of_other_rows_goes_by_the_backends_times_only(part):
    backend, proxy = part
    sync = {"_filter": "updatedAt ge datetimeoffset'1970-01-01T00:00:00.000Z'", "_orderby": "updatedAt",
            "__includeDeleted": "true"}
    online = get(proxy, **sync)
    assert [(row["id"], row["updatedAt"]) for row in online.json()] == [
        (f"r{n}", backend.get(f"r{n}").json()["updatedAt"]) for n in range(6)]
    backend.stop()
    assert get(proxy, **sync).status_code == 503


def test_a_list_beyond_the_part_shows_what_waits(start):
    backend = start.backend("--faults")
    for n in range(4):
        backend.insert({"id": f"r{n}", "text": f"row {n}", "complete": n >= 2})
    proxy = start.proxy(backend.url, "--table", PART)
    assert proxy.sync()["state"] == "complete"
    # A change is sent before the list.
    proxy.update("r0", {"text": "sent"})
    rows = get(proxy)
    assert [row["text"] for row in sorted(rows.json(), key=lambda row: row["id"])] == [
        "sent", "row 1", "row 2", "row 3"]
    backend.faults({"kind": "status", "status": 400, "methods": ["PATCH", "DELETE", "POST"]})
    proxy.update("r1", {"text": "refused"})
    proxy.delete("r0")
    answer = get(proxy)
    assert {row["id"]: row["text"] for row in answer.json()} == {
        "r1": "refused", "r2": "row 2", "r3": "row 3"}
    assert answer.headers["Understudy-Complete"] == "no"


def test_the_commands_show_the_filter(part):
    backend, proxy = part
    assert "$filter=complete eq false" in proxy.command("status").stdout
    doctor = proxy.command("doctor").stdout
    assert "cannot be copied in part" not in doctor


@pytest.mark.parametrize("value, reason", [
    ("todoitem?$top=5", "$top"), ("todoitem?$filter=complete eq", "Expression expected"),
    ("todoitem?", "all rows"), ("todoitem?$filter=due lt now()", "Unknown function 'now'"),
    ("todoitem?$filter=updatedAt gt datetime'2026-01-01'", "updatedAt"),
])
def test_a_filter_that_names_no_part_is_refused_at_the_start_and_by_config_check(
        start, tmp_path, value, reason):
    import subprocess

    from programs import BINARY

    file = tmp_path / "understudy.conf"
    file.write_text(f"backend = http://127.0.0.1:9\ndata = {tmp_path}/data\ntable = {value}\n")
    file.chmod(0o600)
    for command in (["config", "check", file], ["serve", "--config", file]):
        ended = subprocess.run([BINARY, *command], capture_output=True, text=True, timeout=20)
        assert ended.returncode == 2
        assert reason in ended.stdout + ended.stderr


def test_the_environment_and_the_file_name_the_part_too(start, tmp_path):
    backend = start.backend()
    backend.insert({"id": "a", "text": "x,y", "complete": False})
    backend.insert({"id": "b", "text": "x", "complete": False})
    proxy = start.proxy(backend.url, "--sync", "manual")
    proxy.stop()
    proxy.environment = {"UNDERSTUDY_TABLE": "todoitem?$filter=text eq 'x%2Cy',settings"}
    proxy.start()
    assert proxy.sync()["state"] in ("complete", "completeWithErrors")
    assert here(proxy) == ["a"]
