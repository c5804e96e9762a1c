"""A backend for tests, with or without TLS, whose answers are honest or hostile."""

import http.server
import json
import socket
import ssl
import subprocess
import threading


def make_certificate(folder, name, subject_alternative="IP:127.0.0.1,DNS:localhost"):
    """A self-signed certificate and its key as PEM files."""
    certificate, key = folder / f"{name}.pem", folder / f"{name}.key"
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"),
            *("-nodes", "-days", "2", "-subj", f"/CN={name}"),
            *("-addext", f"subjectAltName={subject_alternative}"),
            *("-keyout", key, "-out", certificate),
        ],
        check=True,
        capture_output=True,
    )
    certificate.chmod(0o644)
    key.chmod(0o600)
    return certificate, key


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def body(self):
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        pieces = []
        while size := int(self.rfile.readline(), 16):
            pieces.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(pieces)

    def answer(self, status, body, fields=()):
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **dict(fields)}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def serve(self):
        body = self.body()
        self.server.requests.append((self.command, self.path, dict(self.headers), body))
        try:
            self.server.behaviour(self, body)
        except (BrokenPipeError, ConnectionResetError, ssl.SSLError):
            self.close_connection = True

    do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = do_HEAD = serve


def honest(handler, body):
    """The part of a generation 2 backend that syncing needs; it stores nothing."""
    if handler.command == "GET":
        handler.answer(200, b"[]")
    else:
        item = {**json.loads(body or b"{}"), "version": "AAAAAAAAB9E=", "deleted": False}
        item |= {"createdAt": "2024-01-01T00:00:00.000Z", "updatedAt": "2024-01-01T00:00:00.000Z"}
        handler.answer(201 if handler.command == "POST" else 200, json.dumps(item).encode())


def with_custom_apis(handler, body):
    """As `honest`, with two custom APIs: `/api/echo` gives the body back, and says in `X-Echo` what the rest of
    the request was; `/api/size` gives the number of bytes in the body."""
    if handler.path.startswith("/api/echo"):
        seen = {"method": handler.command, "target": handler.path, "fields": handler.headers.items()}
        kind = handler.headers.get("Content-Type") or "application/octet-stream"
        handler.answer(200, body, {"Content-Type": kind, "X-Echo": json.dumps(seen)})
    elif handler.path == "/api/size":
        handler.answer(200, json.dumps({"bytes": len(body)}).encode())
    else:
        honest(handler, body)


class HTTPBackend(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, behaviour=honest, context=None, port=0):
        super().__init__(("127.0.0.1", port), Handler)
        self.behaviour, self.requests = behaviour, []
        scheme = "http"
        if context:
            self.socket = context.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)
            scheme = "https"
        self.url = f"{scheme}://127.0.0.1:{self.server_port}"
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, *_):
        pass

    @property
    def writes(self):
        return [one for one in self.requests if one[0] != "GET"]


class Trap:
    """A port that counts its connections; there should be none."""

    def __init__(self):
        self.connections = 0
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        threading.Thread(target=self._count, daemon=True).start()

    def _count(self):
        while True:
            try:
                wire, _ = self.socket.accept()
            except OSError:
                return
            self.connections += 1
            wire.close()

    def close(self):
        self.socket.close()
