"""A generation 2 backend that issues tokens, with or without `exp`, and can revoke them."""

import base64
import json
import threading
import time
import urllib.parse


def jwt(user, seconds=None, number=0):
    """A token with a user's claims, which expires after some seconds. Its signature is not valid."""
    claims = {"iss": "urn:tests", "sub": user, "jti": number}
    if seconds is not None:
        claims["exp"] = int(time.time()) + seconds
    parts = [b'{"alg":"none"}', json.dumps(claims).encode(), b"signature"]
    return ".".join(base64.urlsafe_b64encode(part).decode().rstrip("=") for part in parts)


class TokenBackend:
    """`good` has the valid tokens; `rows` has the received rows, with the token of each."""

    def __init__(self):
        self.good, self.rows, self.number = {}, {}, 0
        self.lock = threading.Lock()
        self.is_away = False
        # Seconds that a sign-in takes.
        self.login_seconds = 0

    def token(self, user, seconds=None):
        """A valid token of a user who signed in without the proxy."""
        self.number += 1
        text = jwt(user, seconds, self.number)
        self.good[text] = user
        return text

    def owner(self, id):
        """The user whose row it is; None if there is no such row."""
        return self.good.get(self.rows[id][1]) if id in self.rows else None

    def __call__(self, handler, body):
        if self.is_away:
            # No answer at all: the connection ends.
            handler.close_connection = True
            return
        if "/login/" in handler.path:
            time.sleep(self.login_seconds)
        with self.lock:
            self.answer(handler, body)

    def answer(self, handler, body):
        target = urllib.parse.urlsplit(handler.path)
        parts = target.path.strip("/").split("/")
        given = handler.headers.get("X-ZUMO-AUTH")
        if parts[0] == "login":
            # Like servers that redirect to their other address with the same target.
            return handler.answer(301, b"", {"Location": self.url + handler.path})
        if parts[:2] == [".auth", "login"]:
            user = json.loads(body)["access_token"]
            answer = {"authenticationToken": self.token(user), "user": {"userId": user}}
            return handler.answer(200, json.dumps(answer).encode())
        if parts == [".auth", "logout"]:
            return handler.answer(200, b"{}")
        if given not in self.good:
            return handler.answer(401, b'{"error":"sign in"}')
        if parts[0] != "tables":
            return handler.answer(200, b"{}")
        if handler.command == "POST":
            row = {**json.loads(body), "version": "1", "updatedAt": "2026-01-01T00:00:00.000Z"}
            row |= {"createdAt": "2026-01-01T00:00:00.000Z", "deleted": False}
            self.rows[row["id"]] = (row, given)
            return handler.answer(201, json.dumps(row).encode())
        if handler.command == "GET" and len(parts) == 2:
            return handler.answer(200, b"[]")
        if handler.command == "GET" and self.owner(parts[2]) == self.good[given]:
            return handler.answer(200, json.dumps(self.rows[parts[2]][0]).encode())
        return handler.answer(404, b'{"error":"none"}')
