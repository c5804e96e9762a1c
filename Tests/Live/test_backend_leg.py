"""Requests to the backend: verified TLS, nothing in the clear, no other host, no token to another server."""

import socket
import ssl
import subprocess

import pytest
import requests
from hostile import HTTPBackend, Trap, honest, make_certificate
from programs import ZUMO, Tables, wait_until


def tls(certificate, key, client_authority=None, highest=None):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    if client_authority:
        context.load_verify_locations(client_authority)
        context.verify_mode = ssl.CERT_REQUIRED
    if highest:
        context.minimum_version, context.maximum_version = ssl.TLSVersion.TLSv1, highest
        context.set_ciphers("ALL:@SECLEVEL=0")
    return context


WEAK_SYSTEM = """openssl_conf = all
[all]
ssl_conf = ssl
[ssl]
system_default = weak
[weak]
MinProtocol = TLSv1
CipherString = ALL:@SECLEVEL=0
"""


@pytest.fixture
def servers():
    """Starts backends and stops them at the end."""
    running = []

    def start(*arguments, **options):
        running.append(HTTPBackend(*arguments, **options))
        return running[-1]

    yield start
    for one in running:
        one.shutdown()
        one.server_close()


def can_connect(port):
    with socket.socket() as wire:
        return wire.connect_ex(("127.0.0.1", port)) == 0


def run(proxy):
    return proxy.operator("POST", "/push?wait=20", json={})


def test_a_certificate_of_a_named_authority_is_trusted(start, servers, tmp_path):
    pair = make_certificate(tmp_path, "own")
    backend = servers(context=tls(*pair))
    proxy = start.proxy(backend.url, "--backend-ca", pair[0], "--sync", "manual")
    proxy.insert({"text": "over TLS"})
    assert run(proxy)["state"] == "complete"
    assert [one[0] for one in backend.writes] == ["POST"]


def test_a_backend_with_http_2_gets_http_2(start, servers, tmp_path):
    certificate, key = make_certificate(tmp_path, "front")
    backend, log = servers(), tmp_path / "access.log"
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    front = subprocess.Popen([
        "nghttpx", f"--frontend=127.0.0.1,{port}", f"--backend=127.0.0.1,{backend.server_port}",
        "--conf=/dev/null", "--errorlog-file=/dev/null", f"--accesslog-file={log}",
        "--accesslog-format=$remote_port $request", str(key), str(certificate),
    ])
    try:
        wait_until(lambda: can_connect(port))
        proxy = start.proxy(
            f"https://127.0.0.1:{port}", "--backend-ca", certificate, "--sync", "manual",
            "--parallelism", "4",
        )
        for number in range(20):
            proxy.insert({"text": f"todo {number}"})
        assert run(proxy)["push"]["applied"] == 20
        assert len(backend.writes) == 20
        wait_until(lambda: log.read_text().count("POST ") == 20)
    finally:
        front.terminate()
        front.wait(10)
    lines = [line.split() for line in log.read_text().splitlines()]
    assert {line[-1] for line in lines} == {"HTTP/2"}
    assert len({line[0] for line in lines}) <= 5  # Connections stay open for the next request.


@pytest.mark.parametrize("trouble", ["unknown authority", "another name", "TLS 1.1"])
def test_a_backend_without_a_trusted_certificate_gets_nothing(start, servers, tmp_path, trouble):
    names = "DNS:elsewhere.example" if trouble == "another name" else "IP:127.0.0.1"
    pair = make_certificate(tmp_path, "own", names)
    highest = ssl.TLSVersion.TLSv1_1 if trouble == "TLS 1.1" else None
    backend = servers(context=tls(*pair, highest=highest))
    trusts = [] if trouble == "unknown authority" else ["--backend-ca", pair[0]]
    proxy = start.proxy(backend.url, *trusts, "--sync", "manual")
    if trouble == "TLS 1.1":  # Only where the system allows it.
        weak = tmp_path / "openssl.cnf"
        weak.write_text(WEAK_SYSTEM)
        proxy.stop()
        proxy.environment = {"OPENSSL_CONF": str(weak)}
        proxy.start()
    item = proxy.insert({"text": "stays here"})
    assert run(proxy)["state"] == "offline"
    assert backend.requests == []
    status = proxy.status()
    assert status["backend"]["state"] == "offline" and status["backend"]["reason"]
    assert status["ledger"]["applied"] == 0
    assert proxy.get(item["id"]).status_code == 200


def test_a_configured_client_certificate_is_sent(start, servers, tmp_path):
    server, client = make_certificate(tmp_path, "server"), make_certificate(tmp_path, "client")
    backend = servers(context=tls(*server, client_authority=client[0]))
    proxy = start.proxy(
        backend.url, "--sync", "manual", "--backend-ca", server[0],
        "--backend-cert", client[0], "--backend-key", client[1],
    )
    proxy.insert({"text": "with a certificate"})
    assert run(proxy)["state"] == "complete"
    bare = start.proxy(backend.url, "--sync", "manual", "--backend-ca", server[0], folder="bare")
    bare.insert({"text": "without"})
    assert run(bare)["state"] == "offline"
    assert len(backend.writes) == 1


@pytest.mark.parametrize(
    "backend, arguments, says",
    [
        ("http://contoso.example", [], "--allow-plain-http"),
        ("http://192.0.2.1:8081", [], "--allow-plain-http"),
        ("http://127.0.0.1.nip.io", [], "--allow-plain-http"),
        ("https://contoso.example", ["--backend-ca", "/nowhere.pem"], "cannot be read"),
        ("https://contoso.example", ["--backend-cert", "/nowhere.pem"], "belong together"),
        ("https://contoso.example", ["--backend-proxy", "127.0.0.1:3128"], "--backend-proxy"),
        ("https://user:secret@contoso.example", [], "--backend"),
        ("file:///etc/passwd", [], "--backend"),
        ("gopher://127.0.0.1:70", [], "--backend"),
        ("http://127.0.0.1:18999", ["--listen", "127.0.0.1:18999"], "--listen 127.0.0.1:19000"),
        ("https://localhost:18999/app", ["--listen", "127.0.0.1:18999"], "--listen"),
        ("http://[::1]:18999", ["--listen", "127.0.0.1:18999"], "--listen"),
    ],
)
def test_an_unsafe_connection_is_refused_at_the_start(start, tmp_path, backend, arguments, says):
    refused = start.program("serve", "--backend", backend, "--data", tmp_path / "d", *arguments)
    assert refused.process.wait(10) == 2
    wait_until(lambda: says in refused.output, what=says)


def test_a_key_open_to_others_is_refused_with_a_repair_command(start, tmp_path):
    certificate, key = make_certificate(tmp_path, "own")
    key.chmod(0o644)
    refused = start.program(
        "serve", "--backend", "https://contoso.example", "--data", tmp_path / "d",
        "--backend-cert", certificate, "--backend-key", key,
    )
    assert refused.process.wait(10) == 2
    wait_until(lambda: f"chmod 600 '{key}'" in refused.output)


def test_plain_http_to_another_machine_works_where_it_is_allowed(start, tmp_path):
    proxy = start.proxy("http://contoso.invalid", "--allow-plain-http", "--sync", "manual")
    assert proxy.insert({"text": "kept"})


def test_a_proxy_is_used_if_configured_and_never_from_the_environment(start, servers):
    def forward(handler, body):
        assert handler.path.startswith("http://")
        honest(handler, body)

    way, trap = servers(forward), Trap()
    proxy = start.proxy(
        "http://contoso.invalid", "--allow-plain-http", "--sync", "manual", "--backend-proxy", way.url
    )
    proxy.insert({"text": "through the proxy"})
    assert run(proxy)["state"] == "complete"
    assert way.writes[0][1].startswith("http://contoso.invalid/tables/todoitem")
    direct = servers()
    plain = start.proxy(direct.url, "--sync", "manual", folder="plain")
    plain.stop()
    elsewhere = f"http://127.0.0.1:{trap.port}"
    plain.environment = {"http_proxy": elsewhere, "ALL_PROXY": elsewhere, "all_proxy": elsewhere}
    plain.start()
    plain.insert({"text": "straight"})
    assert run(plain)["state"] == "complete"
    assert trap.connections == 0
    trap.close()


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_never_followed_with_a_token_or_a_row(start, servers, status):
    stranger = servers()

    def redirect(handler, body):
        handler.answer(status, b"", {"Location": stranger.url + handler.path})

    backend = servers(redirect)
    proxy = start.proxy(backend.url, "--sync", "manual")
    client = Tables(proxy.url)
    client.session.headers["X-ZUMO-AUTH"] = "canary-token"
    client.request("GET", "/tables/todoitem", allow_redirects=False)
    proxy.insert({"text": "mine"})
    run(proxy)
    passed = requests.get(
        proxy.url + "/api/custom", headers={"X-ZUMO-AUTH": "canary-token", **ZUMO},
        allow_redirects=False, timeout=10,
    )
    assert passed.status_code == status
    assert passed.headers["Location"].startswith(stranger.url)
    assert any("canary-token" in str(one) for one in backend.requests)
    assert stranger.requests == []
    assert proxy.status()["ledger"]["applied"] == 0


def test_no_request_is_sent_to_another_host_than_the_backend(start, servers):
    backend, trap = servers(), Trap()
    proxy = start.proxy(backend.url, "--sync", "manual")
    evil = f"127.0.0.1:{trap.port}"
    targets = [
        f"//{evil}/x", f"/@{evil}/x", f"/.{evil}/", f":{trap.port}/x", f"@{evil}/x", f"http://{evil}/x",
        f"/%2f%2f{evil}/x", f"/%40{evil}/x", f"/\\{evil}/x", f"/..//{evil}/", f"/api//{evil}",
        f"/api?url=http://{evil}/", f"/api#@{evil}/", f"/api/%0d%0aHost:%20{evil}", f"///{evil}/x",
        f"/api;@{evil}", f"/api/..%2f..%2f{evil}", f"/.auth/login/x?post_login_redirect_uri=http://{evil}/",
        f"/tables/%2f%2f{evil}", f"/tables/http:%2f%2f{evil}", f"/c/{evil}/tables/x", "/api%00" + evil,
    ]
    fields = [
        "", f"X-Forwarded-Host: {evil}", f"Forwarded: host={evil}", f"X-Original-URL: http://{evil}/",
        f"X-Rewrite-URL: //{evil}/", f"Referer: http://{evil}/", f"Proxy: http://{evil}",
    ]
    for target in targets:
        for field in fields:
            lines = [f"GET {target} HTTP/1.1", f"Host: 127.0.0.1:{proxy.port}", "Connection: close"]
            raw = "\r\n".join([*lines, *([field] if field else []), "", ""]).encode()
            with socket.create_connection(("127.0.0.1", proxy.port), timeout=10) as wire:
                wire.sendall(raw)
                while wire.recv(65536):
                    pass
    assert trap.connections == 0
    hosts = {one[2]["Host"] for one in backend.requests}
    assert hosts <= {backend.url.removeprefix("http://")}
    trap.close()
