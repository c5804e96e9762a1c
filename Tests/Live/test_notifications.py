"""Somebody is told: a webhook that is away at first, a command, and what must not leave the machine."""

import json
import os
import signal

import pytest
from hostile import HTTPBackend
from programs import free_port, wait_until

SECRET = "/services/T0/B0/q7WmR2xVn5"


class Hook:
    """A webhook at a port of its own; `status` is what it answers."""

    def __init__(self):
        self.port, self.status, self.server = free_port(), 200, None

    def start(self):
        self.server = HTTPBackend(self.answer, port=self.port)

    def answer(self, handler, _):
        handler.answer(self.status, b"what it says is of no interest",
                       {"Location": f"http://127.0.0.1:{self.port}/elsewhere"})

    @property
    def messages(self):
        """The path and the JSON of each request."""
        return [(path, json.loads(body)) for _, path, _, body in self.server.requests]

    def stop(self):
        if self.server:
            self.server.shutdown()


@pytest.fixture
def hook():
    hook = Hook()
    yield hook
    hook.stop()


def make_conflict(backend, proxy, id):
    backend.insert({"id": id, "text": "a value of the backend"})
    proxy.sync()
    proxy.update(id, {"text": "a value of a client"})
    backend.update(id, {"text": "another value"})
    assert proxy.sync()["push"]["conflicts"] == 1


def last(proxy):
    return proxy.operator("GET", "/notify")["last"]


def test_a_webhook_that_was_away_is_told_once_and_its_secret_is_kept(start, hook):
    backend = start.backend()
    proxy = start.proxy(backend.url, "--sync", "manual", "--log-level", "debug")
    assert proxy.operator("GET", "/notify")["target"] is None
    assert proxy.operator("POST", "/notify/test", expect=409)["code"] == "no-notify-target"
    proxy.insert({"text": "creates the table"})
    make_conflict(backend, proxy, "eggs")

    output = proxy.program.output

    def restart():
        nonlocal output
        proxy.stop()
        output += proxy.program.output
        proxy.start()

    # Nobody listens yet.
    proxy.environment = {"UNDERSTUDY_NOTIFY": f"http://127.0.0.1:{hook.port}{SECRET}"}
    restart()
    wait_until(lambda: last(proxy), what="the first try")
    state = proxy.operator("GET", "/notify")
    assert not state["last"]["isDelivered"] and state["untold"] == 1 and state["nextTryAt"]
    assert state["target"] == f"http://127.0.0.1:{hook.port}"
    hook.start()
    restart()
    wait_until(lambda: last(proxy), what="the message")
    assert last(proxy)["result"] == f"http://127.0.0.1:{hook.port} answered 200."
    ((path, message),) = hook.messages
    assert path == SECRET
    link = f"{proxy.url}/-/#/conflicts"
    host = os.uname().nodename
    assert message.pop("at") and message.pop("version")
    assert message == {
        "text": f"Understudy on {host}: 1 new conflict (todoitem 1). {link}",
        "kinds": ["conflict"], "test": False, "host": host, "backend": backend.url, "dashboard": link,
        "new": [{"kind": "conflict", "identity": "anonymous", "table": "todoitem", "count": 1,
                 "items": [{"id": "eggs", "change": "update"}]}],
        "newLeftOut": 0, "conditions": [], "open": {"conflict": 1, "refused": 0},
    }

    # A second one is told after a restart, and the first one is not told again.
    make_conflict(backend, proxy, "milk")
    restart()
    wait_until(lambda: len(hook.messages) == 2, what="the second message")
    message = hook.messages[1][1]
    assert [item["id"] for group in message["new"] for item in group["items"]] == ["milk"]
    assert message["open"] == {"conflict": 2, "refused": 0}

    # A redirect is an answer like any other, and no way to another place.
    hook.status = 302
    told = proxy.command("notify", "test")
    assert told.returncode == 1 and told.stdout == f"http://127.0.0.1:{hook.port} answered 302.\n"
    hook.status = 200
    told = proxy.command("notify", "test", "--json")
    assert told.returncode == 0 and json.loads(told.stdout)["isDelivered"]
    assert [path for path, _ in hook.messages] == [SECRET] * 4
    assert [message["kinds"] for _, message in hook.messages[2:]] == [["test"], ["test"]]

    shown = [json.dumps(proxy.operator("GET", path)) for path in ("/notify", "/process", "/status")]
    shown += [proxy.command(*words).stdout for words in (("notify",), ("doctor", "--json"))]
    assert all(text.strip() for text in shown)
    assert "(not shown)" in shown[1]
    texts = [*shown, output, proxy.program.output, *(file.read_text(errors="replace") for file in
             proxy.folder.rglob("*") if file.is_file() and file.name != "operator.token")]
    assert not [text for text in texts if SECRET.rsplit("/", 1)[1] in text]
    assert (proxy.folder / "stores/told").stat().st_mode & 0o777 == 0o600


def test_config_show_has_only_scheme_and_host_of_a_webhook_and_a_reload_takes_it(start, tmp_path):
    file = tmp_path / "understudy.conf"
    file.write_text("notify = https://first.example/x\nnotify-events = disk\n")
    proxy = start.proxy("http://127.0.0.1:9", "--sync", "manual", "--config", file)
    assert proxy.operator("GET", "/notify")["target"] == "https://first.example"
    file.write_text(f"backend = http://127.0.0.1:9\nnotify = https://hooks.example{SECRET}\n")
    proxy.program.process.send_signal(signal.SIGHUP)
    wait_until(lambda: proxy.operator("GET", "/notify")["target"] == "https://hooks.example", what="the reload")
    assert len(proxy.operator("GET", "/notify")["events"]) == 5
    shown = proxy.command("config", "show", "--config", file).stdout
    assert "notify = https://hooks.example/(not shown)\n" in shown and SECRET not in shown
    file.write_text(f"backend = http://127.0.0.1:9\nnotify = http://hooks.example{SECRET}\n")
    refused = proxy.command("config", "show", "--config", file)
    assert refused.returncode == 2 and SECRET not in refused.stdout + refused.stderr
    assert "must be the https address of a webhook" in refused.stderr


def test_a_command_gets_the_message_and_few_variables(start, tmp_path):
    command = tmp_path / "tell"
    command.write_text(f"""#!/bin/sh
cat > '{tmp_path}/stdin'
env > '{tmp_path}/new'
mv '{tmp_path}/new' '{tmp_path}/environment'
echo "not read"
exit 3
""")
    command.chmod(0o755)
    proxy = start.proxy("http://127.0.0.1:9", "--sync", "manual", "--notify-command", command)
    told = proxy.command("notify", "test", "--json")
    assert told.returncode == 1
    assert json.loads(told.stdout)["result"] == "The command ended with 3."
    message = json.loads((tmp_path / "stdin").read_text())
    lines = (tmp_path / "environment").read_text().splitlines()
    variables = dict(line.split("=", 1) for line in lines)
    assert message["test"] and variables["NOTIFY_TEXT"] == message["text"]
    assert (variables["NOTIFY_KINDS"], variables["NOTIFY_LINK"]) == ("test", f"{proxy.url}/-/#/status")
    # The shell adds the last two.
    assert set(variables) <= {"NOTIFY_TEXT", "NOTIFY_KINDS", "NOTIFY_LINK", "PATH", "HOME", "USER", "LOGNAME",
                              "LANG", "TZ", "PWD", "_", "SHLVL", "OLDPWD"}

    command.chmod(0o777)
    refused = proxy.command("serve", "--backend", "http://127.0.0.1:9", "--notify-command", command)
    assert refused.returncode == 2 and "can be changed by other users" in refused.stderr


def test_a_disk_budget_that_is_almost_used_is_told_and_that_it_has_room_again(start, hook):
    hook.start()
    proxy = start.proxy("http://127.0.0.1:9", "--sync", "manual", "--disk-budget", "10M")
    item = {"text": "x" * 100_000}
    for _ in range(200):
        if proxy.request("POST", "/tables/todoitem", json=item).status_code == 507:
            break
    proxy.environment = {"UNDERSTUDY_NOTIFY": f"http://127.0.0.1:{hook.port}/"}

    def told(budget):
        """What the first look after a start with this budget tells."""
        count = len(hook.messages)
        proxy.stop()
        proxy.start("--disk-budget", budget)
        wait_until(lambda: len(hook.messages) > count, what="the message")
        message = hook.messages[count][1]
        assert message["kinds"] == ["disk"] and message["new"] == []
        return [(one["condition"], one["identity"], one["state"]) for one in message["conditions"]]

    assert told("10M") == [("budget-almost-used", "anonymous", "began")]
    assert told("100M") == [("budget-almost-used", "anonymous", "over")]
