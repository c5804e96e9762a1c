"""Secrets of this program reach neither the backend nor the log, and sessions end."""

import base64
import json
import threading

import pytest
import requests
from by_hand import Browser, raw
from hostile import HTTPBackend
from programs import ZUMO, wait_until


def page(handler, _):
    """A backend that accepts every login at a path with login in it, and sets two cookies."""
    cookies = [("Set-Cookie", "ARRAffinity=one; Path=/; HttpOnly"), ("Set-Cookie", "theme=dark")]
    own = [("Set-Cookie", "understudy_1=x"), ("Set-Cookie", " UNDERSTUDY_8080 =x; Path=/"),
           ("Set-Cookie", "=understudy_1=x"), ("Set-Cookie", '"understudy_1"=x')]
    token = json.dumps({"authenticationToken": "planted.token.here", "user": {"userId": "mallory"}})
    body = token.encode() if "login" in handler.path else b"[]"
    handler.send_response(200)
    handler.send_header("Content-Type", "application/json")
    for name, value in cookies + own if "/api/" in handler.path else []:
        handler.send_header(name, value)
    handler.send_header("Service-Worker-Allowed", "/")
    handler.send_header("Clear-Site-Data", '"*"')
    handler.send_header("Content-Security-Policy", "img-src 'self'")
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body)


@pytest.fixture
def backend():
    backend = HTTPBackend(page)
    yield backend
    backend.shutdown()


def basic(user, password):
    """The credential of a user's name and password, as curl -u sends it."""
    return base64.b64encode(f"{user}:{password}".encode()).decode()


def seen(backend):
    """All requests to the backend as one text."""
    return "\n".join(f"{method} {path} {fields} {body}" for method, path, fields, body in backend.requests)


def test_a_capabilitys_secret_reaches_neither_the_backend_nor_the_log(start, backend):
    proxy = start.proxy(backend.url, "--sync", "manual", "--log-level", "trace")
    address = proxy.command("access", "add", "phone").stdout.strip()
    secret = address.rsplit("/", 1)[1]
    for target in (f"/c/{secret}/api/x", f"/C/{secret}/api/x", f"/%63/{secret}/api/x", f"/%43/{secret}/api/x",
                   f"//c/{secret}/api/x", f"//C/{secret}/api/x", f"/c;a/{secret}/api/x", f"/c%2F{secret}/api/x",
                   f"/c/c/{secret}/api/x", f"/c//{secret}/api/x", f"/c/{secret}//api/x", f"/%2563/{secret}/api/x",
                   f"/c/{secret}/c/{secret}/api/x", f"/c/{secret}/%43;a/{secret}/api/x", f"/c/{secret}/api/{secret}",
                   f"/;/c/{secret}/api/x", f"/%3b/c/{secret}/api/x", f"/%20/c/{secret}/api/x",
                   f"/%ef%bd%83/{secret}/api/x", f"/c%e2%80%8b/{secret}/api/x", f"/c#/{secret}/api/x",
                   f"/c:80/{secret}/api/x", f"/c/{secret}.css", f"/c/x/{secret}", f"/c/%{ord(secret[0]):02x}{secret[1:]}/x",
                   f"/c/%25{ord(secret[0]):02x}{secret[1:]}/x", f"/c/%E9/{secret}", f"/c/{secret}/api//{secret}",
                   f"/c/{secret}/api/%25{ord(secret[0]):02x}{secret[1:]}", f"/c/{secret}/api/%E9{secret}"):
        status, answer = raw(proxy.port, target)
        assert status in (200, 400, 401), (target, answer)
    for place in (address, proxy.url.replace("127.0.0.1", "localhost") + f"/%63/{secret}"):
        answer = requests.get(proxy.url + "/api/x", headers={"Referer": f"{place}/page"}, timeout=10)
        assert answer.status_code == 200
    for field in (f"X-Original-URL: /c/{secret}/api/x", f"Referrer: {address}/page", f"X-Own: {secret}"):
        for target in ("/api/x", "/tables/none"):
            assert raw(proxy.port, f"/c/{secret}{target}", fields=["ZUMO-API-VERSION: 2.0.0", field])[0] != 400
    # A page that was refused is named by its origin alone.
    foreign = {"Referer": f"{address}/page", "Sec-Fetch-Site": "cross-site"}
    assert requests.get(proxy.url + "/api/x", headers=foreign, timeout=10).status_code == 403
    assert secret not in json.dumps(proxy.operator("GET", "/rejections"))
    assert "/api/x" in seen(backend) and secret not in seen(backend)
    proxy.stop()
    assert "/c/*" in proxy.program.output and secret not in proxy.program.output


def test_the_operators_token_reaches_the_backend_in_no_field(start, backend):
    proxy = start.proxy(backend.url, "--sync", "manual", "--forward-header", "X-Tenant")
    token = proxy.token
    versions = [["ZUMO-API-VERSION: 2.0.0"], ["ZUMO-API-VERSION: 3.0.0"], []]
    for fields in ([f"Authorization: Bearer {token}"], [f"Authorization: Bearer  {token}"],
                   [f"Authorization: Bearer\t{token}"], [f"Authorization: bearer \t {token}"],
                   ["Authorization: Bearer other", f"Authorization: Bearer {token}"],
                   [f"Authorization: Bearer {token}", f"Authorization: Bearer {token}"],
                   [f"X-ZUMO-AUTH: {token}"], [f"X-ZUMO-AUTH: Bearer {token}"], [f"X-Tenant: a{token}b"],
                   [f"Authorization: Basic {token}"],
                   *([f"Authorization: Basic {basic(user, token)}"] for user in ("", "x", "ab", "abc"))):
        for version in versions:
            for target in ("/api/x", "/tables/none", "/.auth/me", "/login/facebook"):
                raw(proxy.port, target, fields=[*version, *fields])
    assert "/api/x" in seen(backend) and token not in seen(backend)
    assert not any("Basic" in fields.get("Authorization", "") for _, _, fields, _ in backend.requests)
    backend.requests.clear()
    for target in (f"/api/x?access_token={token}", f"/api/{token}", f"/api/x?a=%{ord(token[0]):02x}{token[1:]}",
                   f"/api/%E9/%{ord(token[0]):02x}{token[1:]}", f"/api/%25{ord(token[0]):02x}{token[1:]}",
                   f"/tables/none?access_token={token}"):
        status, answer = raw(proxy.port, target)
        assert status == 400 and b"The operator's token stands in the target" in answer, target
    assert backend.requests == []
    # The password of another server is the backend's matter.
    other = f"Basic {basic('x', 'other')}"
    assert raw(proxy.port, "/api/x", fields=[f"Authorization: {other}"])[0] == 200
    assert backend.requests[-1][2].get("Authorization") == other
    assert requests.get(proxy.url + "/-/api/v1/status", timeout=10,
                        headers={"Authorization": f"Bearer \t{token}"}).status_code == 200


def test_only_cookies_that_the_backend_has_set_are_sent_to_it(start, backend):
    proxy = start.proxy(backend.url, "--sync", "manual")
    browser = Browser(proxy, "b")
    mine = browser.session.cookies.get(f"understudy_{proxy.port}")
    everything = f"jupyter=abc; understudy_{proxy.port}={mine}; ARRAffinity=one; theme=a\u0600; x=y; theme=b"
    ask = lambda: raw(proxy.port, "/api/x", fields=[f"Cookie: {everything}"])
    sent = lambda: [fields.get("Cookie") for _, path, fields, _ in backend.requests if path == "/api/x"][-1]
    status, answer = ask()
    assert status == 200 and sent() is None
    head = answer.split(b"\r\n\r\n")[0].decode()
    assert [line for line in head.split("\r\n") if line.lower().startswith("set-cookie")] == [
        "Set-Cookie: ARRAffinity=one; Path=/; HttpOnly", "Set-Cookie: theme=dark"]
    ask()
    assert sent().encode("latin1").decode() == "ARRAffinity=one; theme=a\u0600; theme=b"
    # The names outlive the process, the values are kept nowhere.
    proxy.stop()
    kept = (proxy.folder / "cookies").read_text()
    assert json.loads(kept) == {"backend": backend.url, "names": ["ARRAffinity", "theme"]}
    assert (proxy.folder / "cookies").stat().st_mode & 0o777 == 0o600
    proxy.start()
    ask()
    assert sent().encode("latin1").decode() == "ARRAffinity=one; theme=a\u0600; theme=b"


def test_a_second_cookie_with_the_same_name_does_not_end_a_session(start, backend):
    proxy = start.proxy(backend.url, "--sync", "manual")
    browser = Browser(proxy, "b")
    name = f"understudy_{proxy.port}"
    mine = browser.session.cookies.get(name)
    session = f"Understudy-Session: {browser.headers['Understudy-Session']}"
    for cookies in (f"{name}=evil; {name}={mine}", f"{name}={mine}; {name}=evil", f"{name}=; {name}={mine}",
                    f"a=\u0600; {name}={mine}", f"{name}=evil\u0600; {name}={mine}"):
        status, answer = raw(proxy.port, "/-/api/v1/status", fields=[f"Cookie: {cookies}", session])
        assert status == 200, (cookies, answer)
    # In two fields as well, and never without the right half.
    assert raw(proxy.port, "/-/api/v1/status",
               fields=[f"Cookie: {name}=evil", f"Cookie: {name}={mine}", session])[0] == 200
    assert raw(proxy.port, "/-/api/v1/status", fields=[f"Cookie: {name}=evil", session])[0] == 401


def test_an_event_stream_ends_with_its_session(start, backend):
    proxy = start.proxy(backend.url, "--sync", "manual")
    ended, other = Browser(proxy, "ended"), Browser(proxy, "other")

    def follow(browser):
        lines = []
        answer = browser.session.get(
            proxy.url + "/-/api/v1/events", headers=browser.headers, stream=True, timeout=30)
        assert answer.status_code == 200

        def read():
            try:
                lines.extend(answer.iter_lines())
            except requests.exceptions.RequestException:
                pass
            lines.append(None)

        threading.Thread(target=read, daemon=True).start()
        wait_until(lambda: lines, what="the first line")
        return lines

    streams = {one: follow(one) for one in (ended, other)}
    (session,) = [one for one in proxy.operator("GET", "/sessions")["items"] if one["browser"] == "ended"]
    proxy.operator("DELETE", f"/sessions/{session['id']}", expect=204)
    wait_until(lambda: streams[ended][-1] is None, 3, "the end of the stream")
    proxy.insert({"id": "later"})
    wait_until(lambda: any(line and b"later" in line for line in streams[other]), what="the event")
    assert not any(line and b"later" in line for line in streams[ended])
    # Signing out ends one's own.
    other.session.delete(proxy.url + "/-/api/v1/session", headers=other.headers, timeout=10)
    wait_until(lambda: streams[other][-1] is None, 3, "the end of the other stream")


def test_fields_for_the_whole_origin_are_removed_from_answers(start, backend):
    proxy = start.proxy(backend.url, "--sync", "manual")
    answer = requests.get(proxy.url + "/api/x", headers=ZUMO, timeout=10)
    assert "Service-Worker-Allowed" not in answer.headers and "Clear-Site-Data" not in answer.headers
    policies = [value for name, value in answer.raw.headers.items() if name == "Content-Security-Policy"]
    assert policies == ["img-src 'self'", "sandbox allow-forms allow-popups allow-scripts"]
    backend.requests.clear()
    refused = requests.get(proxy.url + "/api/sw.js", headers={"Service-Worker": "script"}, timeout=10)
    assert refused.status_code == 403 and backend.requests == []
    reasons = {one["reason"]: one["count"] for one in proxy.operator("GET", "/rejections")["items"]}
    assert reasons == {"service-worker": 1}
