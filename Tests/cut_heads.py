"""Heads that libmicrohttpd ends too early, or of which it skips a part."""

from raw_wire import JSON, request

# Lines behind Host at which libmicrohttpd ends a head too early, or of which it skips a part. A whole request
# follows each head: it must not be executed.
CUTS = {
    "a line that begins with a colon": ": x\r\n",
    "a line of a colon": ":\r\n",
    "a line that begins with a NUL": "\0abc: x\r\n",
    "a line of a NUL": "\0\r\n",
    "a NUL in a value": "X: a\0b\r\n",
    "a NUL at the end of a value": "X: a\0\r\n",
    "a NUL as a value": "X:\0\r\n",
    "a bare line feed behind a field": "X: a\n",
    "a bare line feed behind a name": "X:\n",
    "a bare line feed as the last line": "\n",
    "a folded field": "X: a\r\n b\r\n",
    "a field folded with a tab": "X: a\r\n\tb\r\n",
    "a field folded to a line of blanks": "X: a\r\n  \r\n",
    "a line of a blank": " \r\n",
    "a line of a tab": "\t\r\n",
    "a field with a blank before it": " X: a\r\n",
    "a folded name": "X\r\n : a\r\n",
}
# The same in a whole request; HOST stands for the right one.
CUT_HEADS = {
    "bare line feeds": "POST /tables/todoitem HTTP/1.1\nHost: HOST\n\n",
    "a bare line feed behind the request line": "POST /tables/todoitem HTTP/1.1\nHost: HOST\r\n\r\n",
    "a colon before the first field": "POST /tables/todoitem HTTP/1.1\r\n: x\r\nHost: HOST\r\n\r\n",
    "a NUL before the first field": "POST /tables/todoitem HTTP/1.1\r\n\0: x\r\nHost: HOST\r\n\r\n",
    "a blank before the first field": "POST /tables/todoitem HTTP/1.1\r\n X: 1\r\nHost: HOST\r\n\r\n",
    "an old version and a bare line feed": "GET /-/livez HTTP/1.0\r\n\n",
}


def cut(port):
    """Heads that libmicrohttpd does not read as they are written, each before a request that is in order. Each
    gets one 400, and the connection is closed."""
    host = f"127.0.0.1:{port}"
    smuggled = request(port, fields=[JSON])
    for name, line in CUTS.items():
        for method in ("GET", "POST", "DELETE"):
            head = f"{method} /tables/todoitem/a HTTP/1.1\r\nHost: {host}\r\n{line}"
            yield f"{name}, {method}", (head + "\r\n").encode() + smuggled
            # The rest of the head is the next request, if the line ends it.
            yield f"{name}, {method}, at once", head.encode() + smuggled
    for name, head in CUT_HEADS.items():
        yield name, head.replace("HOST", host).encode() + smuggled
