"""The one-time link reaches the browser by a page that only this user can read, never by an argument."""

import os
import pathlib
import re
import signal

import pytest
import requests
from installed import make_home, remove
from programs import free_port, wait_until

LINK = re.compile(r"http://127\.0\.0\.1:\d+/-/#link=([A-Za-z0-9_-]{43})")


@pytest.fixture
def desktop(tmp_path):
    """A desktop whose opener records its arguments, which every user of the machine can read."""
    tools = tmp_path / "tools"
    tools.mkdir()
    noted = tmp_path / "noted"
    noted.mkdir()
    opener = tools / "xdg-open"
    # Written under another name and renamed, so that a test never reads half of it.
    opener.write_text(
        "#!/bin/sh\n"
        f"tr '\\0' '\\n' </proc/$$/cmdline >{noted}/arguments.new\n"
        f"stat -c '%a %F' \"$1\" >{noted}/page\n"
        f"stat -c '%a %F' \"$(dirname \"$1\")\" >{noted}/folder\n"
        f"cp \"$1\" {noted}/text\n"
        f"mv {noted}/arguments.new {noted}/arguments\n"
    )
    opener.chmod(0o755)

    class Desktop:
        environment = {"DISPLAY": ":99", "PATH": f"{tools}:{os.environ['PATH']}"}

        def noted(self, name):
            wait_until(lambda: (noted / "arguments").exists(), what="the call of xdg-open")
            return (noted / name).read_text()

    return Desktop()


def opened(start, desktop, *words):
    """Runs `understudy open` as on a desktop; returns the link that it printed."""
    program = start.program(*words, environment=desktop.environment)
    assert program.process.wait(20) == 0
    program.stop()
    (link,) = re.findall(LINK, program.output)
    return link


def sign_in(url, link):
    return requests.post(f"{url}/-/api/v1/session", json={"link": link}, timeout=10).status_code


def pages(folder):
    return sorted(path.name for path in pathlib.Path(folder).glob("open-*"))


def test_the_link_is_no_argument_and_its_page_is_private(start, desktop):
    proxy = start.proxy(start.backend().url)
    link = opened(start, desktop, "open", "--data", proxy.folder)
    arguments = desktop.noted("arguments")
    assert link not in arguments and "#link" not in arguments
    (page,) = pages(proxy.folder)
    assert arguments.split()[-1] == str(proxy.folder / page)
    # No part of the link is in the page's name either.
    assert not any(link[place:place + 6] in page for place in range(len(link) - 5))
    assert desktop.noted("page") == "600 regular file\n"
    assert desktop.noted("folder") == "700 directory\n"
    text = desktop.noted("text")
    assert f'http-equiv="refresh" content="0;url={proxy.url}/-/#link={link}"' in text
    assert 'name="referrer" content="no-referrer"' in text


def test_the_page_alone_is_removed_when_its_link_is_used(start, desktop):
    proxy = start.proxy(start.backend().url)
    first = opened(start, desktop, "open", "--data", proxy.folder)
    second = opened(start, desktop, "open", "--data", proxy.folder)
    assert len(pages(proxy.folder)) == 2
    assert sign_in(proxy.url, "A" * 43) == 401 and len(pages(proxy.folder)) == 2
    assert sign_in(proxy.url, first) == 201
    (left,) = pages(proxy.folder)
    assert second in (proxy.folder / left).read_text()
    assert sign_in(proxy.url, second) == 201
    assert pages(proxy.folder) == []


def test_the_page_is_removed_at_the_end_or_by_the_next_start_after_a_crash(start, desktop):
    proxy = start.proxy(start.backend().url)
    opened(start, desktop, "open", "--data", proxy.folder)
    proxy.program.stop(signal.SIGKILL)
    assert len(pages(proxy.folder)) == 1
    proxy.start()
    assert pages(proxy.folder) == []
    opened(start, desktop, "open", "--data", proxy.folder)
    proxy.stop()
    assert pages(proxy.folder) == []


def test_with_print_only_there_is_no_page(start, desktop):
    proxy = start.proxy(start.backend().url)
    opened(start, desktop, "open", "--print-only", "--data", proxy.folder)
    assert pages(proxy.folder) == []


def test_the_demo_opens_its_dashboard_by_such_a_page(start, desktop):
    home = make_home()
    port, backend = free_port(), free_port()
    try:
        program = start.program(
            "demo", "--listen", f"127.0.0.1:{port}", "--backend-listen", f"127.0.0.1:{backend}",
            "--data", f"{home}/data", environment=desktop.environment,
        )
        arguments = desktop.noted("arguments")
        (link,) = set(re.findall(LINK, desktop.noted("text")))
        # The output is no terminal, so the link is not in it either.
        wait_until(lambda: "Ctrl-C stops it" in program.output, what="the welcome")
        assert link not in arguments and "#link=" not in program.output
        (page,) = pages(f"{home}/data")
        assert arguments.split()[-1] == f"{home}/data/{page}"
        assert sign_in(f"http://127.0.0.1:{port}", link) == 201
        assert pages(f"{home}/data") == []
    finally:
        program.stop()
        remove(home)


def test_a_read_only_sign_in_sees_all_and_changes_nothing(start):
    backend = start.backend()
    proxy = start.proxy(backend.url, "--sync", "manual")
    proxy.insert({"id": "a", "text": "mine"})
    made = proxy.command("open", "--print-only", "--read-only")
    (link,) = re.findall(LINK, made.stdout)
    browser = requests.Session()
    api = f"{proxy.url}/-/api/v1"
    signed = browser.post(f"{api}/session", json={"link": link}, timeout=10).json()
    assert signed["isReadOnly"] is True
    browser.headers["Understudy-Session"] = signed["session"]
    before = (proxy.all(), proxy.operator("GET", "/operations")["items"], proxy.operator("GET", "/settings"))

    # Every route but those that read: nothing is left out.
    routes = [
        (method, path)
        for path, methods in requests.get(f"{proxy.url}/-/openapi.json", timeout=10).json()["paths"].items()
        for method in methods
        if path.startswith("/-/api/v1") and method in ("get", "post", "patch", "put", "delete")
    ]
    changes = {one for one in routes if one[0] != "get"}
    mine = {("post", "/-/api/v1/session"), ("delete", "/-/api/v1/session")}
    reads = {("post", "/-/api/v1/operations/outcomes")}
    assert len(changes) > 25 and mine | reads <= changes
    for method, path in sorted(changes - mine - reads):
        target = proxy.url + path.replace("{table}", "todoitem").replace("{", "").replace("}", "")
        answer = browser.request(method, target, json={}, timeout=10)
        assert (answer.status_code, answer.json()["code"]) == (403, "read-only"), (method, path)
    outcomes = browser.post(f"{api}/operations/outcomes", json={"ids": []}, timeout=10)
    assert outcomes.status_code != 403
    for path in ("status", "operations", "conflicts", "history", "settings", "tables"):
        assert browser.get(f"{api}/{path}", timeout=10).status_code == 200, path

    zumo = {"ZUMO-API-VERSION": "2.0.0"}
    row = f"{proxy.url}/tables/todoitem/a"
    assert browser.get(row, headers=zumo, timeout=10).json()["text"] == "mine"
    written = [
        browser.patch(row, json={"text": "theirs"}, headers=zumo, timeout=10),
        browser.delete(row, headers=zumo, timeout=10),
        browser.post(f"{proxy.url}/tables/todoitem", json={"id": "b"}, headers=zumo, timeout=10),
    ]
    assert [one.status_code for one in written] == [403] * 3
    assert "may only look" in written[0].json()["error"]

    proxy.stop()
    proxy.start()
    assert browser.post(f"{api}/push", json={}, timeout=10).status_code == 403
    assert "read-only" in proxy.command("sessions").stdout
    after = (proxy.all(), proxy.operator("GET", "/operations")["items"], proxy.operator("GET", "/settings"))
    assert after == before
    assert browser.delete(f"{api}/session", timeout=10).status_code == 204
    assert browser.get(f"{api}/status", timeout=10).status_code == 401
