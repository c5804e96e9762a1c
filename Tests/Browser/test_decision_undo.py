"""A decision is not sent while its undo is offered; a later undo says what it does, before and after."""

import pytest
from playwright.sync_api import expect
from programs import wait_until

SENT_ALREADY = ("It was sent already, so no conflict opens. "
                "The next sync sends a new change: it sets back “text”.")
OPEN_AGAIN = "1 decision undone. The conflict is open again, with all three versions."


@pytest.fixture
def clash(start):
    """A proxy that syncs by itself, with a conflict about each of these rows."""

    def make(*ids, sync="auto"):
        backend = start.backend()
        for id in ids:
            backend.insert({"id": id, "text": f"base {id}"})
        proxy = start.proxy(backend.url, "--table", "todoitem", "--sync", sync)
        proxy.sync()
        proxy.operator("POST", "/mode", json={"mode": "offline"})
        for id in ids:
            proxy.update(id, {"text": f"mine {id}"})
            backend.update(id, {"text": f"theirs {id}"})
        proxy.operator("POST", "/mode", json={"mode": "online"})
        proxy.operator("POST", "/sync?wait=30", json={})
        assert proxy.operator("GET", "/conflicts")["total"] == len(ids)
        return backend, proxy

    return make


def texts(side):
    return {row["id"]: row["text"] for row in side.all()}


def held(proxy):
    waiting = proxy.operator("GET", "/operations?state=waiting")["items"]
    return [one for one in waiting if "held back" in one["reason"]]


def decide(page, button="Keep yours"):
    page.page.get_by_role("button", name=button, exact=True).click()
    page.toast("Decided. Nothing is sent as long as you can undo it here.")


@pytest.mark.parametrize("button", ["Keep yours", "Save this version", "Keep the server’s", "Keep both"])
def test_undo_in_the_message_opens_the_conflict_with_all_three_versions(clash, dashboard, button):
    backend, proxy = clash("a")
    before = proxy.operator("GET", "/conflicts")["items"][0]
    page = dashboard(proxy)
    page.open("conflicts")
    decide(page, button)
    page.undo()
    page.toast("1 decision undone. The conflict is open again, with all three versions.")
    after = proxy.operator("GET", "/conflicts")["items"]
    assert [{side: one[side] for side in ("base", "mine", "server")} for one in after] == [
        {side: before[side] for side in ("base", "mine", "server")}]
    expect(page.page.locator(".version.mine")).to_contain_text("mine a")
    expect(page.page.locator(".version.server")).to_contain_text("theirs a")
    assert texts(backend) == {"a": "theirs a"}, "nothing was sent"
    assert texts(proxy) == {"a": "mine a"}
    page.accessible()


def test_a_decision_is_sent_when_its_message_ends(clash, dashboard):
    backend, proxy = clash("a")
    page = dashboard(proxy)
    page.page.clock.install()
    page.open("conflicts")
    decide(page)
    page.page.clock.fast_forward(7000)
    expect(page.page.locator("#toast")).to_be_visible()
    assert len(held(proxy)) == 1 and texts(backend) == {"a": "theirs a"}
    with page.page.expect_response("**/conflicts/send"):
        page.page.clock.fast_forward(1100)
    expect(page.page.locator("#toast")).to_be_hidden()
    wait_until(lambda: texts(backend) == {"a": "mine a"})


def test_sync_now_sends_a_decision_at_once(clash, dashboard):
    backend, proxy = clash("a")
    page = dashboard(proxy)
    page.open("conflicts")
    decide(page)
    assert len(held(proxy)) == 1
    page.page.locator("#connection").get_by_role("button", name="Sync now").click()
    page.toast("1 change sent")
    assert texts(backend) == {"a": "mine a"}


def test_a_second_decision_sends_the_first(clash, dashboard):
    backend, proxy = clash("a", "b")
    page = dashboard(proxy)
    page.open("conflicts")
    decide(page)
    expect(page.page.locator(".position")).to_have_text("1 of 1")
    decide(page)
    page.all_decided()
    wait_until(lambda: list(texts(backend).values()).count("theirs a") == 0)
    assert [one["itemId"] for one in held(proxy)] == ["b"]
    page.undo()
    page.toast(OPEN_AGAIN)
    assert texts(backend) == {"a": "mine a", "b": "theirs b"}


def test_leaving_the_page_sends_a_decision(clash, dashboard):
    backend, proxy = clash("a")
    page = dashboard(proxy)
    page.open("conflicts")
    decide(page)
    [decided] = held(proxy)
    page.page.goto("about:blank")
    wait_until(lambda: texts(backend) == {"a": "mine a"})
    attempts = proxy.operator("GET", f"/operations/{decided['id']}")["attempts"]
    assert attempts[-1]["startedAt"] < decided["nextAttemptAt"], "before the time of a browser that is gone"


def test_a_decision_is_sent_also_when_the_browser_is_gone(clash, dashboard):
    backend, proxy = clash("a")
    conflict = proxy.operator("GET", "/conflicts")["items"][0]
    body = {"revision": conflict["revision"], "choice": "mine", "holdSeconds": 1}
    proxy.operator("POST", f"/conflicts/{conflict['id']}/resolve", json=body)
    wait_until(lambda: texts(backend) == {"a": "mine a"})


def test_a_later_undo_says_what_it_does_before_and_after(clash, dashboard):
    backend, proxy = clash("a")
    page = dashboard(proxy)
    page.open("conflicts")
    decide(page)
    page.sync()
    assert texts(backend) == {"a": "mine a"}
    page.page.keyboard.press("u")
    dialog = page.page.get_by_role("dialog")
    expect(dialog).to_contain_text(SENT_ALREADY)
    page.screenshot("undo-of-what-was-sent")
    page.confirm("Cancel")
    assert proxy.operator("GET", "/operations")["total"] == 0
    page.open("history")
    entry = page.page.locator(".history li").filter(has_text="decided")
    entry.get_by_role("button", name="Undo").click()
    expect(dialog).to_contain_text(SENT_ALREADY)
    page.accessible()
    page.confirm("Undo")
    page.toast(f"Undone. {SENT_ALREADY}")
    wait_until(lambda: texts(backend) == {"a": "theirs a"})
    assert proxy.operator("GET", "/conflicts")["total"] == 0


def test_many_decisions_are_held_until_their_message_ends(clash, dashboard):
    ids = [f"a{n}" for n in range(12)]
    backend, proxy = clash(*ids)
    page = dashboard(proxy)
    page.open("conflicts")
    page.page.get_by_role("button", name="Keep yours for all").click()
    page.confirm("Keep yours for all 12")
    page.toast("12 conflicts decided. Nothing is sent as long as you can undo it here.")
    assert texts(backend) == {id: f"theirs {id}" for id in ids}
    page.undo()
    page.toast("12 decisions undone. Each of them: The conflict is open again, with all three versions.")
    assert proxy.operator("GET", "/conflicts")["total"] == 12
    assert texts(backend) == {id: f"theirs {id}" for id in ids}


def test_where_a_person_syncs_a_decision_waits_for_the_sync(clash, dashboard):
    backend, proxy = clash("a", sync="manual")
    page = dashboard(proxy)
    page.open("conflicts")
    decide(page)
    with page.page.expect_response("**/conflicts/send"):
        page.page.locator("#connection").get_by_role("button", name="Work offline").click()
    page.toast("Working offline")
    queued = proxy.operator("GET", "/operations?state=queued")["items"]
    assert [one["reason"] for one in queued] == ["Kept mine."]
    assert texts(backend) == {"a": "theirs a"}
