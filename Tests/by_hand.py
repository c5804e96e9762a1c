"""Requests with exact bytes, and a signed-in browser session without a browser."""

import socket

import requests


def raw(port, target, method="GET", fields=(), body=b""):
    """Sends a target unchanged; returns the status and the whole answer."""
    lines = [f"{method} {target} HTTP/1.1", f"Host: 127.0.0.1:{port}", "Connection: close",
             f"Content-Length: {len(body)}", *fields]
    with socket.create_connection(("127.0.0.1", port), timeout=10) as wire:
        wire.sendall("\r\n".join(lines).encode() + b"\r\n\r\n" + body)
        answer = b""
        while piece := wire.recv(65536):
            answer += piece
    return int(answer.split(b" ")[1]), answer


class Browser:
    """A browser session: signs in with a link, and keeps cookie and session value."""

    def __init__(self, proxy, name):
        self.proxy = proxy
        self.session = requests.Session()
        self.session.headers["User-Agent"] = name
        link = proxy.operator("POST", "/links", expect=201, json={})["url"].split("#link=")[1]
        answer = self.session.post(proxy.url + "/-/api/v1/session", json={"link": link}, timeout=10)
        assert answer.status_code == 201, answer.text
        self.headers = {"Understudy-Session": answer.json()["session"]}
        # requests keeps cookies by host without port, as browsers do.
        cookie = answer.headers["Set-Cookie"]
        assert "HttpOnly" in cookie and "SameSite=Strict" in cookie
        assert cookie.startswith(f"understudy_{proxy.port}=")

    def get(self, path="/status"):
        return self.session.get(self.proxy.url + "/-/api/v1" + path, headers=self.headers, timeout=10)
