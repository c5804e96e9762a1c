"""Whose tokens a site's backend takes in the tests: its files, and tokens of this site."""

import base64
import hashlib
import hmac
import json
import time

import pytest

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
    write_file(tmp_path / "admin.token", ADMIN + "\n", 0o600)
    return ["--access-file", tmp_path / "access.json", "--admin-token-file", tmp_path / "admin.token"]


def write_access(folder, key):
    write_file(folder / "own.key", key + "\n", 0o600)
    write_file(folder / "access.json", json.dumps(
        {"own": {"issuer": "https://site.example", "audience": "todos", "keyFile": "own.key"}}), 0o644)


def write_file(path, text, mode):
    """Writes a file with these permissions, whatever the umask is."""
    path.write_text(text)
    path.chmod(mode)
