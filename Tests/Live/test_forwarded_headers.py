"""A client's own header fields are kept with its write and sent to the backend with it (`--forward-header`)."""

import pytest
from hostile import HTTPBackend
from programs import wait_until


@pytest.fixture
def backend():
    backend = HTTPBackend()
    yield backend
    backend.shutdown()


def test_the_fields_of_a_write_survive_a_restart_and_are_in_no_log(start, backend):
    proxy = start.proxy(
        backend.url, "--sync", "manual", "--forward-header", "X-Tenant", "--log-level", "trace"
    )
    proxy.operator("POST", "/mode", json={"mode": "offline"})
    fields = {"X-Tenant": "north-of-the-wall", "X-Other": "stays here"}
    made = proxy.request("POST", "/tables/book", json={"id": "a", "title": "x"}, headers=fields)
    assert made.status_code == 201
    proxy.program.kill()
    said = proxy.program.output
    # The list may have changed by then: the fields that were accepted with the write are sent.
    proxy.arguments = ["--sync", "manual", "--log-level", "trace"]
    proxy.start()
    proxy.operator("POST", "/mode", json={"mode": "online"})
    proxy.sync()
    wait_until(lambda: backend.writes, what="the write")
    method, path, sent, _ = backend.writes[0]
    assert (method, path) == ("POST", "/tables/book")
    assert sent["X-Tenant"] == "north-of-the-wall"
    assert "X-Other" not in sent
    operation = proxy.operator("GET", "/operations?state=done")["items"][0]
    shown = proxy.operator("GET", f"/operations/{operation['id']}")
    assert shown["headers"] == ["X-Tenant: north-of-the-wall"]
    assert "  sent with X-Tenant: north-of-the-wall" in proxy.command("queue", "show", operation["id"]).stdout
    assert "north-of-the-wall" not in said + proxy.program.output
