"""The page that `understudy open` gives to a real browser signs it in."""

import os

from playwright.sync_api import expect


def test_the_page_leads_to_the_dashboard_signed_in_and_is_gone(chromium, start, tmp_path):
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "xdg-open").write_text("#!/bin/sh\nexit 0\n")
    (tools / "xdg-open").chmod(0o755)
    proxy = start.proxy(start.backend().url)
    environment = {"DISPLAY": ":99", "PATH": f"{tools}:{os.environ['PATH']}"}
    program = start.program("open", "--data", proxy.folder, environment=environment)
    assert program.process.wait(20) == 0
    (page_on_disk,) = proxy.folder.glob("open-*.html")
    context = chromium.new_context()
    page = context.new_page()
    asked = []
    page.on("request", lambda request: asked.append(request))
    page.goto(f"file://{page_on_disk}")
    expect(page.locator(".pill")).not_to_be_empty()
    expect(page).to_have_url(f"{proxy.url}/-/#/todos")
    assert not page_on_disk.exists()
    # No request contains the path of the page on disk or the link.
    for request in asked[1:]:
        assert "open-" not in (request.headers.get("referer") or ""), request.url
    context.close()
