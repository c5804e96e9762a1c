"""A webhook that is away at first is told, and what must not leave the machine does not."""

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
    assert not state["last"]["isDelivered"]
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
        "text": f"Understudy on {host}: Open: 1 conflict (todoitem 1). {link}",
        "test": False, "host": host, "backend": backend.url, "dashboard": link, "conflicts": 1, "refused": 0,
        "tables": [{"table": "todoitem", "conflicts": 1, "refused": 0}],
        "waitingForSignIn": 0, "storesWithoutWrites": 0,
    }

    # A redirect is an answer like any other, and no way to another place.
    hook.status = 302
    told = proxy.command("notify", "test")
    assert told.returncode == 1 and told.stdout == f"http://127.0.0.1:{hook.port} answered 302.\n"
    hook.status = 200
    told = proxy.command("notify", "test", "--json")
    assert told.returncode == 0 and json.loads(told.stdout)["isDelivered"]
    assert [path for path, _ in hook.messages] == [SECRET] * 3
    assert [message["test"] for _, message in hook.messages[1:]] == [True, True]

    shown = [json.dumps(proxy.operator("GET", path)) for path in ("/notify", "/process", "/status")]
    shown += [proxy.command(*words).stdout for words in (("notify",), ("doctor", "--json"))]
    assert all(text.strip() for text in shown)
    assert "(not shown)" in shown[1]
    texts = [*shown, output, proxy.program.output, *(file.read_text(errors="replace") for file in
             proxy.folder.rglob("*") if file.is_file() and file.name != "operator.token")]
    assert not [text for text in texts if SECRET.rsplit("/", 1)[1] in text]


def test_config_show_has_only_scheme_and_host_of_a_webhook_and_a_reload_takes_it(start, tmp_path):
    file = tmp_path / "understudy.conf"
    file.write_text("notify = https://first.example/x\n")
    proxy = start.proxy("http://127.0.0.1:9", "--sync", "manual", "--config", file)
    assert proxy.operator("GET", "/notify")["target"] == "https://first.example"
    file.write_text(f"backend = http://127.0.0.1:9\nnotify = https://hooks.example{SECRET}\n")
    proxy.program.process.send_signal(signal.SIGHUP)
    wait_until(lambda: proxy.operator("GET", "/notify")["target"] == "https://hooks.example", what="the reload")
    shown = proxy.command("config", "show", "--config", file).stdout
    assert "notify = https://hooks.example/(not shown)\n" in shown and SECRET not in shown
    file.write_text(f"backend = http://127.0.0.1:9\nnotify = http://hooks.example{SECRET}\n")
    refused = proxy.command("config", "show", "--config", file)
    assert refused.returncode == 2 and SECRET not in refused.stdout + refused.stderr
    assert "must be the https address of a webhook" in refused.stderr
