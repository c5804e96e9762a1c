"""`understudy-site` for a site: addresses, TLS and its reload, users' tokens, hostile requests."""

import base64
import hashlib
import hmac
import json
import os
import socket
import sqlite3
import ssl
import subprocess
import threading
import time

import pytest
import requests
from hostile import make_certificate
from programs import BINARY, SITE, ZUMO, free_port, wait_until
from raw_requests import CHUNKS, FIELDS, LINES, crooked, matrix
from raw_wire import JSON, send
from site_access import ADMIN, KEY, files, token, write_access, write_file  # noqa: F401 (files is a fixture)


def started(*arguments):
    return subprocess.run([SITE, *map(str, arguments)], capture_output=True, text=True, timeout=30)


@pytest.mark.parametrize("words", [
    ["--database", "postgresql://h/d"], ["--access-file=access.json"], ["--tls-key", "key"], ["--config", "x"],
    ["--drain", "1"], ["--default-access", "disabled"], ["--allow-plain-http"], ["run", "--database", "x"], ["import", "x"],
    ["copy", "--help"],
])
def test_the_reference_backend_names_the_program_of_a_site(binary, tmp_path, words):
    done = subprocess.run([BINARY, "backend", *words], capture_output=True, text=True, timeout=30)
    assert done.returncode == 2 and "understudy-site" in done.stderr, done


def test_the_reference_backend_takes_no_variable_of_a_site(binary, tmp_path):
    done = subprocess.run([BINARY, "backend", "--data", tmp_path], capture_output=True, text=True, timeout=30,
                          env={**os.environ, "UNDERSTUDY_DATABASE": "postgresql://u:secret@h/d"})
    assert done.returncode == 2 and "understudy-site" in done.stderr and "secret" not in done.stderr, done


def test_other_addresses_need_tokens_and_tls(binary, tmp_path, files):
    address = ["--listen", f"0.0.0.0:{free_port()}", "--data", tmp_path / "data"]
    certificate, key = make_certificate(tmp_path, "one")
    # No key, but as closed as one.
    certificate.chmod(0o600)
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
    program = start.program("--listen", f"0.0.0.0:{port}", "--data", tmp_path / "data",
                            *files, "--allow-plain-http", binary=SITE)
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
    program = start.program("--listen", f"127.0.0.1:{port}", "--data", tmp_path / "data", *files,
        "--tls-certificate", certificate, "--tls-key", key, "--log-level", "notice", binary=SITE)
    wait_until(lambda: program.alive() and "https://" in program.output, what="the first line")
    first = serial(port)
    session = requests.Session()
    # A variable with the authorities of the machine would win over the certificate here.
    session.trust_env = False
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
        client.trust_env = False
        client.verify = False
        client.headers.update(session.headers)
        count = 0
        while not done.is_set():
            id = f"{name}-{count}"
            try:
                answer = client.post(url, json={"id": id}, timeout=30)
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
    try:
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
    finally:
        done.set()
        for writer in writers:
            writer.join()
    assert problems == []
    session.verify = str(certificate)
    for id in written:
        assert session.get(f"{url}/{id}").status_code == 200, id


def test_keys_are_read_again(start, tmp_path, files):
    backend = start.node(*files)
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


@pytest.mark.parametrize("name, mode, words", [
    ("access.json", 0o664, "can be changed by other users"), ("aad.jwks", 0o646, "can be changed by other users"),
    ("own.key", 0o620, "can be changed by other users"), ("admin.token", 0o602, "can be changed by other users"),
    ("one.key", 0o660, "can be changed by other users"), ("one.pem", 0o666, "can be changed by other users"),
    ("own.key", 0o604, "a secret that other users can read"),
    ("admin.token", 0o644, "a secret that other users can read"),
    ("one.key", 0o644, "a secret that other users can read"),
])
def test_files_that_decide_access_are_closed_to_other_users(start, tmp_path, files, name, mode, words):
    certificate, key = make_certificate(tmp_path, "one")
    _, keys, _ = pair(tmp_path)
    write_file(tmp_path / "aad.jwks", json.dumps({"keys": keys}), 0o644)
    access = json.loads((tmp_path / "access.json").read_text())
    access["providers"] = [
        {"name": "aad", "issuer": "https://aad.example", "audiences": ["todos"], "jwksFile": "aad.jwks"}]
    (tmp_path / "access.json").write_text(json.dumps(access))
    port = free_port()
    arguments = ["--listen", f"127.0.0.1:{port}", "--data", tmp_path / "data", *files, "--drain", "0",
                 "--tls-certificate", certificate, "--tls-key", key]
    program = start.program(*arguments, binary=SITE)
    wait_until(lambda: program.alive() and "https://" in program.output, what="the first line")
    # A reload keeps what was, and a start ends with the sentence.
    (tmp_path / name).chmod(mode)
    program.process.send_signal(1)
    wait_until(lambda: "keys and certificate kept" in program.output, what="the refusal")
    assert f"{tmp_path / name} " in program.output and words in program.output, program.output
    program.stop()
    done = started(*arguments)
    assert done.returncode == 2 and f"{tmp_path / name} " in done.stderr and words in done.stderr, done
    assert "chmod " in done.stderr


def test_the_administrators_token_is_the_first_line(tmp_path, files):
    for text in ["", "\n" + ADMIN, "short\n" + ADMIN]:
        write_file(tmp_path / "admin.token", text, 0o600)
        done = started("--listen", f"127.0.0.1:{free_port()}", "--data", tmp_path / "data", *files)
        assert done.returncode == 2 and "32 characters of ASCII or more, and no blanks" in done.stderr, (text, done)


def effects(backend):
    answer = requests.get(backend.url + "/-/effects", headers={"Authorization": f"Bearer {ADMIN}"})
    assert answer.status_code == 200, answer.text
    return answer.json()["effects"]


def pair(folder):
    """A new RSA key, and the JWK set that publishes it."""
    key = folder / "rsa.key"
    subprocess.run(["openssl", "genrsa", "-out", key, "2048"], check=True, capture_output=True)
    modulus = subprocess.run(["openssl", "rsa", "-in", key, "-noout", "-modulus"], check=True,
                             capture_output=True, text=True).stdout.strip().partition("=")[2]
    public = subprocess.run(["openssl", "rsa", "-in", key, "-pubout"], check=True, capture_output=True).stdout

    def part(value):
        return base64.urlsafe_b64encode(value).rstrip(b"=").decode()

    keys = [{"kty": "RSA", "kid": "one", "use": "sig", "alg": "RS256", "n": part(bytes.fromhex(modulus)), "e": "AQAB"}]
    return key, keys, public


def rsa_token(key, secret=None, kid="one", algorithm="RS256", **claims):
    """A token of the provider; with a secret, one that takes it for a key of HS256."""
    def part(value):
        return base64.urlsafe_b64encode(value).rstrip(b"=").decode()

    head = part(json.dumps({"alg": algorithm, "kid": kid}).encode())
    all = {"iss": "https://aad.example", "aud": "todos", "sub": "ana", "exp": int(time.time()) + 3600, **claims}
    signed = f"{head}.{part(json.dumps(all).encode())}"
    if secret is not None:
        return f"{signed}.{part(hmac.new(secret, signed.encode(), hashlib.sha256).digest())}"
    signature = subprocess.run(["openssl", "dgst", "-sha256", "-sign", key], input=signed.encode(), check=True,
                               capture_output=True).stdout
    return f"{signed}.{part(signature)}"


@pytest.mark.parametrize("storage", ["sqlite", "postgresql"])
def test_tokens_that_are_not_good_touch_nothing(start, files, tmp_path, storage, request):
    key, keys, public = pair(tmp_path)
    write_file(tmp_path / "aad.jwks", json.dumps({"keys": keys}), 0o644)
    access = json.loads((tmp_path / "access.json").read_text())
    access["providers"] = [
        {"name": "aad", "issuer": "https://aad.example", "audiences": ["todos"], "jwksFile": "aad.jwks"}]
    (tmp_path / "access.json").write_text(json.dumps(access))
    database = request.getfixturevalue("postgresql") if storage == "postgresql" else None
    more = ["--database", database.url] if database else []
    backend = start.node(*files, "--faults", "--table", "todoitem:anonymous", *more)

    def whole():
        """Every row of every table of the database."""
        if not database:
            with sqlite3.connect(f"file:{tmp_path}/backend/backend.sqlite?mode=ro", uri=True) as file:
                return list(file.iterdump())
        dump = subprocess.run([database.bin / "pg_dump", database.url, "--inserts"], check=True,
                              capture_output=True, text=True).stdout
        # pg_dump of later updates writes a random key into each dump.
        return [line for line in dump.split("\n") if not line.startswith(("\\restrict", "\\unrestrict"))]

    url = backend.url + "/tables/todoitem"
    good = {**ZUMO, "X-ZUMO-AUTH": rsa_token(key)}
    assert requests.post(url, json={"id": "a", "n": 1}, headers=good).status_code == 201
    before = whole()
    assert any("'a'" in line or "\ta\t" in line for line in before)
    (tmp_path / "other").mkdir()
    other = pair(tmp_path / "other")[0]
    jwks = (tmp_path / "aad.jwks").read_bytes()
    forged = rsa_token(key).split(".")
    forged[1] = rsa_token(key, sub="bob").split(".")[1]
    now = int(time.time())
    bads = [
        token(seconds=-61), token(key="x" * 32), token(algorithm="none"), token(aud="others"), token(nbf=now + 90),
        token(iss="https://evil.example"), token()[:-2], "nonsense", token(iss="https://aad.example"),
        rsa_token(key, exp=now - 61), rsa_token(key, aud="x"), rsa_token(key, kid="two"), rsa_token(other),
        rsa_token(key, secret=public), rsa_token(key, secret=public, algorithm="HS256"),
        rsa_token(key, secret=jwks, algorithm="HS256"), rsa_token(key, iss="https://site.example"), ".".join(forged),
    ]
    for bad in bads:
        for headers in [{"X-ZUMO-AUTH": bad}, {"Authorization": f"Bearer {bad}"}]:
            for method, path in [("GET", ""), ("POST", ""), ("POST", "/a"), ("PATCH", "/a"), ("DELETE", "/a")]:
                answer = requests.request(method, url + path, json={"id": "b"}, headers={**ZUMO, **headers})
                assert answer.status_code == 401, (bad, method, answer.text)
                assert '"n"' not in answer.text
    assert requests.get(backend.url + "/-/effects").status_code == 401
    assert requests.get(backend.url + "/-/faults", headers={"Authorization": f"Bearer {token()}"}).status_code == 401
    assert whole() == before
    # The clocks of the issuer and of the node may differ by a minute.
    for skewed in [token(seconds=-30), token(nbf=now + 30), rsa_token(key, exp=now - 30)]:
        assert requests.get(url, headers={**ZUMO, "X-ZUMO-AUTH": skewed}).status_code == 200
    assert requests.post(url, json={"id": "b"}, headers=ZUMO).status_code == 201
    assert [effect["id"] for effect in effects(backend)] == ["a", "b"]
    assert whole() != before


def test_hostile_requests_have_no_effect(start, files):
    backend = start.node(*files, "--faults")
    wrong = []
    for name, _, raw in matrix(backend.port):
        got = send(backend.port, raw)
        # Preflights and livez are answered to everybody, and do nothing; 100 asks for a body that is refused.
        is_open = raw.startswith(b"OPTIONS") or b"/-/livez" in raw[:20]
        if got is not None and 100 < got < 400 and not is_open:
            wrong.append((name, got))
        answer = requests.get(backend.url + "/tables/todoitem", headers={**ZUMO, "X-ZUMO-AUTH": token()}, timeout=5)
        assert answer.json() == [], name
    assert wrong == []
    assert effects(backend) == []


def test_a_good_token_excuses_no_request_that_breaks_the_rules(start, files):
    """What only the server's rules refuse, as it does for the proxy: each has its status, and no row comes."""
    backend = start.node(*files, "--faults")
    signed = f"{JSON}\r\nX-ZUMO-AUTH: {token()}\r\n".encode()
    groups = [*FIELDS.values(), *CHUNKS.values(), LINES[414], LINES[505]]
    names = {f"{name}, /tables/todoitem" for group in groups for name in group}
    wrong, sent = [], 0
    for name, status, raw in crooked(backend.port):
        if name in names:
            got = send(backend.port, raw.replace(f"{JSON}\r\n".encode(), signed, 1))
            sent += 1
            if got != status:
                wrong.append((name, status, got))
    assert sent == len(names)
    assert wrong == []
    assert effects(backend) == []
    answer = requests.get(backend.url + "/-/metrics", headers={"Authorization": f"Bearer {ADMIN}"}).text
    assert "understudy_node_rejected_requests_total{reason=" in answer


@pytest.mark.parametrize("name", ["X-HTTP-Method-Override", "X-HTTP-Method", "x-method-override"])
def test_no_field_overrides_the_method_of_a_request(start, files, name):
    """A balancer or a filter before the node may allow POST and not DELETE."""
    backend = start.node(*files, "--faults")
    fields = {**ZUMO, "X-ZUMO-AUTH": token()}
    url = backend.url + "/tables/todoitem"
    row = requests.post(url, json={"id": "a"}, headers=fields).json()
    answer = requests.post(f"{url}/a", headers={**fields, name: "DELETE"})
    assert answer.status_code == 400 and "is not supported" in answer.json()["error"], answer.text
    assert requests.get(f"{url}/a", headers=fields).json() == row
    assert [effect["kind"] for effect in effects(backend)] == ["insert"]
