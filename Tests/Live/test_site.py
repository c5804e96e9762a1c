"""`understudy backend` for a site: addresses, TLS and its reload, users' tokens, hostile requests."""

import base64
import hashlib
import hmac
import json
import socket
import ssl
import subprocess
import threading
import time

import pytest
import requests
from hostile import make_certificate
from programs import BINARY, ZUMO, free_port, wait_until
from raw_requests import matrix, send

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


def write_access(folder, key):
    (folder / "own.key").write_text(key + "\n")
    (folder / "access.json").write_text(json.dumps(
        {"own": {"issuer": "https://site.example", "audience": "todos", "keyFile": "own.key"}}))


def started(*arguments):
    return subprocess.run([BINARY, "backend", *map(str, arguments)], capture_output=True, text=True, timeout=30)


def test_other_addresses_need_tokens_and_tls(binary, tmp_path, files):
    address = ["--listen", f"0.0.0.0:{free_port()}", "--data", tmp_path / "data"]
    certificate, key = make_certificate(tmp_path, "one")
    for arguments, words in [
        ([], "--access-file"),
        (["--allow-plain-http"], "--access-file"),
        (["--tls-certificate", certificate, "--tls-key", key], "--access-file"),
        (files, "--tls-certificate and --tls-key, or --allow-plain-http"),
        (files[:2], "--admin-token-file"),
        ([*files, "--tls-certificate", certificate], "say both"),
        ([*files, "--tls-certificate", certificate, "--tls-key", certificate], "cannot be used"),
        ([*files, "--tls-certificate", certificate, "--tls-key", tmp_path / "no.key"], "There is no file"),
        (["--table", "todos:read=anonymous"], "--access-file"),
    ]:
        done = started(*address, *arguments)
        assert done.returncode == 2 and words in done.stderr, (arguments, done)
        assert done.stderr.count("\n") <= 2, done.stderr


def test_plain_http_is_explicit_and_needs_a_token(start, tmp_path, files):
    port = free_port()
    program = start.program("backend", "--listen", f"0.0.0.0:{port}", "--data", tmp_path / "data",
                            *files, "--allow-plain-http")
    wait_until(lambda: program.alive() and program.lines, what="the first line")
    url = f"http://127.0.0.1:{port}/tables/todoitem"
    assert requests.get(url, headers=ZUMO).status_code == 401
    assert requests.get(url, headers={**ZUMO, "X-ZUMO-AUTH": token()}).json() == []


def serial(port):
    """The serial number of the certificate that a server shows."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    with socket.create_connection(("127.0.0.1", port), timeout=10) as wire:
        with context.wrap_socket(wire) as secure:
            assert secure.version() in ("TLSv1.2", "TLSv1.3")
            return hashlib.sha256(secure.getpeercert(binary_form=True)).hexdigest()


def test_tls_and_its_reload_while_clients_write(start, tmp_path, files):
    certificate, key = make_certificate(tmp_path, "one")
    port = free_port()
    program = start.program(
        "backend", "--listen", f"127.0.0.1:{port}", "--data", tmp_path / "data", *files,
        "--tls-certificate", certificate, "--tls-key", key, "--log-level", "notice")
    wait_until(lambda: program.alive() and "listens at https://" in program.output, what="the first line")
    first = serial(port)
    session = requests.Session()
    session.verify = str(certificate)
    session.headers.update({**ZUMO, "X-ZUMO-AUTH": token()})
    url = f"https://127.0.0.1:{port}/tables/todoitem"
    # Pages name their own scheme, and long bodies and answers pass.
    text = "x" * 300_000
    assert session.post(url, json={"id": "long", "text": text}).status_code == 201
    assert session.get(url + "/long").json()["text"] == text
    for number in range(60):
        assert session.post(url, json={"id": f"p{number:03}"}).status_code == 201
    assert session.get(url).links["next"]["url"].startswith(f"https://127.0.0.1:{port}/tables/todoitem?")

    done, problems, written = threading.Event(), [], []

    def write(name):
        client = requests.Session()
        client.verify = False
        client.headers.update(session.headers)
        count = 0
        while not done.is_set():
            id = f"{name}-{count}"
            try:
                answer = client.post(url, json={"id": id})
            except requests.ConnectionError:
                # A connection that was idle at the reload.
                continue
            if answer.status_code == 201:
                written.append(id)
                count += 1
            elif answer.status_code == 409:
                count += 1
            elif answer.status_code != 503:
                problems.append(answer.text)

    writers = [threading.Thread(target=write, args=(f"w{number}",)) for number in range(3)]
    for writer in writers:
        writer.start()
    other_certificate, other_key = make_certificate(tmp_path, "two")
    certificate.write_bytes(other_certificate.read_bytes())
    program.process.send_signal(1)
    wait_until(lambda: "keys and certificate kept" in program.output, what="the refusal of half a pair")
    assert serial(port) == first
    key.write_bytes(other_key.read_bytes())
    program.process.send_signal(1)
    wait_until(lambda: serial(port) != first, what="the new certificate")
    many = len(written)
    wait_until(lambda: len(written) > many + 20, what="writes after the reload")
    done.set()
    for writer in writers:
        writer.join()
    assert problems == []
    session.verify = str(certificate)
    for id in written:
        assert session.get(f"{url}/{id}").status_code == 200, id


def test_keys_are_read_again(start, tmp_path, files):
    backend = start.backend(*files)
    other = "another-key-another-key-another-key"

    def status(key):
        return requests.get(backend.url + "/tables/todoitem",
                            headers={**ZUMO, "X-ZUMO-AUTH": token(key=key)}).status_code

    assert (status(KEY), status(other)) == (200, 401)
    (tmp_path / "own.key").write_text("short")
    backend.program.process.send_signal(1)
    wait_until(lambda: "keys and certificate kept" in backend.program.output, what="the refusal")
    assert (status(KEY), status(other)) == (200, 401)
    write_access(tmp_path, other)
    backend.program.process.send_signal(1)
    wait_until(lambda: status(other) == 200, what="the new key")
    assert status(KEY) == 401


def effects(backend):
    answer = requests.get(backend.url + "/-/effects", headers={"Authorization": f"Bearer {ADMIN}"})
    assert answer.status_code == 200, answer.text
    return answer.json()["effects"]


def test_tokens_that_are_not_good_touch_nothing(start, files):
    backend = start.backend(*files, "--faults", "--table", "todoitem:anonymous")
    url = backend.url + "/tables/todoitem"
    for bad in [token(seconds=-61), token(key="x" * 32), token(algorithm="none"), token(aud="others"),
                token(iss="https://evil.example"), token()[:-2], "nonsense"]:
        for headers in [{"X-ZUMO-AUTH": bad}, {"Authorization": f"Bearer {bad}"}]:
            for method, path in [("GET", ""), ("POST", ""), ("PATCH", "/a"), ("DELETE", "/a")]:
                answer = requests.request(method, url + path, json={"id": "a"}, headers={**ZUMO, **headers})
                assert answer.status_code == 401, (bad, method, answer.text)
    assert requests.get(backend.url + "/-/effects").status_code == 401
    assert requests.get(backend.url + "/-/faults", headers={"Authorization": f"Bearer {token()}"}).status_code == 401
    assert effects(backend) == []
    assert requests.post(url, json={"id": "a"}, headers=ZUMO).status_code == 201
    assert [effect["id"] for effect in effects(backend)] == ["a"]


def test_hostile_requests_have_no_effect(start, files):
    backend = start.backend(*files, "--faults")
    wrong = []
    for name, _, raw in matrix(backend.port):
        got = send(backend.port, raw)
        # A preflight is answered to everybody, and does nothing.
        if got is not None and got < 400 and not raw.startswith(b"OPTIONS"):
            wrong.append((name, got))
        answer = requests.get(backend.url + "/tables/todoitem", headers={**ZUMO, "X-ZUMO-AUTH": token()}, timeout=5)
        assert answer.json() == [], name
    assert wrong == []
    assert effects(backend) == []
