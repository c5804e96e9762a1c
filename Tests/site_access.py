"""Whose tokens a site's backend takes in the tests: its files, tokens of this site, and a PostgreSQL."""

import base64
import hashlib
import hmac
import json
import time

import pytest
from postgresql import PostgreSQL

KEY = "0123456789abcdef0123456789abcdef"
ADMIN = "administrator-administrator-admin"


def token(user="ana", seconds=3600, key=KEY, algorithm="HS256", **claims):
    def part(value):
        return base64.urlsafe_b64encode(value).rstrip(b"=").decode()

    head = part(json.dumps({"alg": algorithm}).encode())
    all = {"iss": "https://site.example", "aud": "todos", "sub": user, "exp": int(time.time()) + seconds, **claims}
    signed = f"{head}.{part(json.dumps(all).encode())}"
    signature = b"" if algorithm == "none" else hmac.new(key.encode(), signed.encode(), hashlib.sha256).digest()
    return f"{signed}.{part(signature)}"


@pytest.fixture
def files(tmp_path):
    """The arguments that say whose tokens are good."""
    write_access(tmp_path, KEY)
    (tmp_path / "admin.token").write_text(ADMIN + "\n")
    return ["--access-file", tmp_path / "access.json", "--admin-token-file", tmp_path / "admin.token"]


@pytest.fixture
def postgresql():
    database = PostgreSQL()
    yield database
    database.remove()


def write_access(folder, key):
    (folder / "own.key").write_text(key + "\n")
    (folder / "access.json").write_text(json.dumps(
        {"own": {"issuer": "https://site.example", "audience": "todos", "keyFile": "own.key"}}))
