"""Followers of the stream of changes (docs/PROTOCOL.md), and a backend that has none."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import requests
from programs import ZUMO, free_port, wait_until


class Follower:
    """A client that follows a stream of changes."""

    def __init__(self, url, headers=None):
        self.answer = requests.get(url + "/tables/changes", stream=True, timeout=60,
                                   headers={**ZUMO, "Accept": "text/event-stream", **(headers or {})})
        self.events = []
        self.ended = threading.Event()
        if self.answer.status_code == 200:
            threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        lines = {}
        try:
            for line in self.answer.iter_lines(chunk_size=1, decode_unicode=True):
                name, _, value = line.partition(": ")
                if line:
                    lines[name] = value
                    continue
                if "event" in lines:
                    self.events.append((lines["event"], json.loads(lines["data"])))
                lines = {}
        except (requests.RequestException, AttributeError, OSError):
            pass
        self.ended.set()

    @property
    def tables(self):
        return [data.get("table") for _, data in self.events]

    def stamps(self, table):
        return [data.get("updatedAt") for _, data in self.events if data.get("table") == table]

    def await_stamp(self, table, stamp):
        wait_until(lambda: stamp in self.stamps(table), 10, f"{stamp} of {table} among {self.events}")

    def close(self):
        self.answer.close()


class PlainBackend:
    """A backend with one table, that answers anything else as it is told to."""

    def __init__(self, status=404, kind="text/html", body=b"<html>nothing here</html>"):
        backend = self
        self.asked = []

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *arguments):
                pass

            def do_GET(self):
                backend.asked.append(self.path)
                is_list = self.path.startswith("/tables/todoitem")
                answer = b"[]" if is_list else body
                self.send_response(200 if is_list else status)
                self.send_header("Content-Type", "application/json" if is_list else kind)
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

        self.server = ThreadingHTTPServer(("127.0.0.1", free_port()), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def asked_for_changes(self):
        return len([path for path in self.asked if path.startswith("/tables/changes")])
