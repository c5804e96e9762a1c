"""Requests as bytes on a socket, each with the one status that it must get, and the matrix of them.

None of them may have any effect. A request that is refused is followed on the same connection by one that
is in order: a server that lost count of the bytes, or went on after its refusal, would insert a row.
"""

import itertools

from cut_heads import cut
from raw_wire import BODY, JSON, request

HOSTS = [
    "evil.example",
    "evil.example:{port}",
    "localhost.evil.example:{port}",
    "127.0.0.1.nip.io:{port}",
    "0.0.0.0:{port}",
    "[::ffff:127.0.0.1]:{port}",
    "127.0.0.1.:{port}",
    "LOCALHOST:{port}",
    "127.0.0.1",
    "127.0.0.1:1",
]
# What is no name or address with a port.
NO_HOSTS = [
    " ", "a b", "a/b", "<script>", "a,b", "%31", "\u00e9", "user@127.0.0.1:{port}", "127.0.0.1:{port}/",
    "127.0.0.1:{port}, 127.0.0.1:{port}", "127.0.0.1:{port}?x", "127.0.0.1:{port}#x", "127.0.0.1:{port}:{port}",
    "127.0.0.1:{port}x", "127.0.0.1:-1", "127.0.0.1:99999999", ":{port}", "::1", "[::1", "[::1]x",
    "[127.0.0.1]:{port}", "[localhost]:{port}", "[::1%25lo]:{port}",
]
ORIGINS = ["https://evil.example", "null", "http://127.0.0.1:1", "http://localhost.evil.example"]
SITES = ["cross-site", "same-site"]
TYPES = ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"]
TARGETS = ["/tables/todoitem", "/tables/todoitem/a", "/-/api/v1/sync", "/api/custom", "/.auth/x"]
METHODS = ["GET", "POST", "PATCH", "PUT", "DELETE"]


# Header fields, by the status that a request with them gets. Framing in two ways, what must come once, and
# what is no field.
FIELDS = {
    400: {
        "two lengths": "Content-Length: 18\r\nContent-Length: 2",
        "two equal lengths": "Content-Length: 18\r\nContent-Length: 18",
        "two lengths in other letters": "content-length: 18\r\nCONTENT-LENGTH: 18",
        "a length twice in one": "Content-Length: 18, 18",
        "a signed length": "Content-Length: +18",
        "a negative length": "Content-Length: -1",
        "a hexadecimal length": "Content-Length: 0x12",
        "a length with a blank": "Content-Length: 1 8",
        "an empty length": "Content-Length:",
        "a length of blanks": "Content-Length:   ",
        "a length with a point": "Content-Length: 18.0",
        "a length with an exponent": "Content-Length: 1e1",
        "a length with a letter": "Content-Length: 18a",
        "a quoted length": 'Content-Length: "18"',
        "a length in other digits": "Content-Length: \u00b2",
        "a length with a semicolon": "Content-Length: 18;",
        "length and chunks": "Content-Length: 18\r\nTransfer-Encoding: chunked",
        "chunks and length": "Transfer-Encoding: chunked\r\nContent-Length: 18",
        "no length and chunks": "Content-Length: 0\r\nTransfer-Encoding: chunked",
        "another encoding": "Transfer-Encoding: xchunked",
        "two encodings": "Transfer-Encoding: gzip, chunked",
        "chunks last but one": "Transfer-Encoding: chunked, identity",
        "no encoding": "Transfer-Encoding: identity",
        "an empty encoding": "Transfer-Encoding:",
        "chunks twice": "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
        "chunks twice in one": "Transfer-Encoding: chunked, chunked",
        "chunks with a parameter": "Transfer-Encoding: chunked;q=1",
        "quoted chunks": 'Transfer-Encoding: "chunked"',
        "chunks with a comma": "Transfer-Encoding:\tchunked,",
        "a blank before the colon": "Content-Length : 18",
        "a tab before the colon": "Content-Length\t: 18",
        "a blank in a name": "X Y: 1\r\nContent-Length: 18",
        "a bracket in a name": "X(Y): 1\r\nContent-Length: 18",
        "an at sign in a name": "X@Y: 1\r\nContent-Length: 18",
        "a slash in a name": "X/Y: 1\r\nContent-Length: 18",
        "a letter of Latin-1 in a name": "X\u00e9: 1\r\nContent-Length: 18",
        "no colon": "nothing\r\nContent-Length: 18",
        "a line of a CR": "\r\r\nContent-Length: 18",
        "a CR before the colon": "X\r: 1\r\nContent-Length: 18",
        "a CR at the end of a value": "X: a\r\r\nContent-Length: 18",
        "a colon twice at the beginning": ":: x\r\nContent-Length: 18",
        "a NUL in a name": "X\0Y: 1\r\nContent-Length: 18",
        "a bare CR in a value": "X: a\rContent-Length: 2\r\nContent-Length: 18",
        "a bell in a value": "X: a\x07b\r\nContent-Length: 18",
        "an escape in a value": "X: \x1b[2J\r\nContent-Length: 18",
        "a DEL in a value": "X: a\x7fb\r\nContent-Length: 18",
        "a backspace in a value": "X: a\x08b\r\nContent-Length: 18",
        "another Host": "Host: evil.example\r\nContent-Length: 18",
        "the same Host again": "Host: {host}\r\nContent-Length: 18",
        "an empty Host again": "Host:\r\nContent-Length: 18",
        "two origins": "Origin: http://{host}\r\nOrigin: null\r\nContent-Length: 18",
        "the same origin twice": "Origin: http://{host}\r\nOrigin: http://{host}\r\nContent-Length: 18",
        "two types": "Content-Type: text/plain\r\nContent-Length: 18",
        "the same type twice": "Content-Type: application/json\r\nContent-Length: 18",
        "two conditions": 'If-Match: "a"\r\nIf-Match: "b"\r\nContent-Length: 18',
        "the same condition twice": 'If-Match: "a"\r\nIf-Match: "a"\r\nContent-Length: 18',
        "an expectation and two lengths": "Expect: 100-continue\r\nContent-Length: 18\r\nContent-Length: 2",
    },
    413: {
        "a length beyond 64 bits": "Content-Length: 99999999999999999999",
        "a length of 64 bits": "Content-Length: 18446744073709551634",
        "the longest length": "Content-Length: 9223372036854775807",
        "a huge length": "Content-Length: 999999999",
    },
    431: {
        "a huge field": "X: " + "x" * 40_000 + "\r\nContent-Length: 18",
        "a huge name": "X" * 40_000 + ": 1\r\nContent-Length: 18",
        "a field beyond the memory of a connection": "X: " + "x" * 100_000 + "\r\nContent-Length: 18",
        "many fields": "\r\n".join(["X: 1"] * 80) + "\r\nContent-Length: 18",
        "many empty fields": "\r\n".join(["X:"] * 80) + "\r\nContent-Length: 18",
    },
}
# Request lines, by the status that they get. None: libmicrohttpd closes without a word where there is no
# method.
LINES = {
    405: {
        "an unknown method": "BREW {target} HTTP/1.1",
        "a method in small letters": "post {target} HTTP/1.1",
        "a method in mixed letters": "Post {target} HTTP/1.1",
        "a long method": "P" * 5_000 + " {target} HTTP/1.1",
        **{
            f"the method {method}": method + " {target} HTTP/1.1"
            for method in (
                "TRACE", "PROPFIND", "MKCOL", "MOVE", "COPY", "LOCK", "MERGE", "LINK", "PURGE",
                "SEARCH", "QUERY", "DEBUG", "REPORT", "BIND", "ACL",
            )
        },
    },
    505: {
        "another version": "POST {target} HTTP/9.9",
        "an older version": "POST {target} HTTP/0.9",
        "the second version": "POST {target} HTTP/2.0",
        "the next protocol": "PRI * HTTP/2.0",
    },
    414: {
        "a long target": "POST {target}?x=" + "x" * 20_000 + " HTTP/1.1",
        "a target beyond bearing": "POST {target}?x=" + "x" * 100_000 + " HTTP/1.1",
        "a long path": "POST {target}" + "x" * 20_000 + " HTTP/1.1",
        "a target of pairs beyond bearing": "POST {target}?" + "&" * 20_000 + " HTTP/1.1",
    },
    None: {"no method": " {target} HTTP/1.1"},
    400: {
        "a method with a bracket": "PO(ST {target} HTTP/1.1",
        "a method with a NUL": "PO\0ST {target} HTTP/1.1",
        "a tunnel": "CONNECT {host} HTTP/1.1",
        "a tunnel elsewhere": "CONNECT evil.example:443 HTTP/1.1",
        "two blanks before the target": "POST  {target} HTTP/1.1",
        "a method with a colon": "POST: {target} HTTP/1.1",
        "no version": "POST {target}",
        "no version but a blank": "POST {target} ",
        "the second version, short": "POST {target} HTTP/2",
        "half a version": "POST {target} HTTP/1.",
        "a version in small letters": "POST {target} http/1.1",
        "another protocol": "POST {target} ICAP/1.1",
        "a version with a zero": "POST {target} HTTP/01.1",
        "a version with more": "POST {target} HTTP/1.1x",
        "a blank behind the version": "POST {target} HTTP/1.1 ",
        "two blanks before the version": "POST {target}  HTTP/1.1",
        "a NUL in the target": "POST {target}%00 HTTP/1.1",
        "a NUL in the query": "POST {target}?x=%00 HTTP/1.1",
        "a raw NUL in the target": "POST {target}\0x HTTP/1.1",
        "a tab in the target": "POST {target}\tx HTTP/1.1",
        "a bell in the target": "POST {target}\x07 HTTP/1.1",
        "a DEL in the target": "POST {target}\x7f HTTP/1.1",
        "a bad encoding": "POST {target}%zz HTTP/1.1",
        "half an encoding": "POST {target}%4 HTTP/1.1",
        "an encoding without digits": "POST {target}% HTTP/1.1",
        "bytes that are no text": "POST {target}%FF%FE HTTP/1.1",
        "raw bytes that are no text": "POST {target}\xff\xfe HTTP/1.1",
        "too long a form of a slash": "POST {target}%C0%AF HTTP/1.1",
        "half a surrogate pair": "POST {target}%ED%A0%80 HTTP/1.1",
        "a way up": "POST /tables/../-/api/v1/sync HTTP/1.1",
        "a way up that is encoded twice, in too long a form":
            "POST /api/%25c0%25ae%25c0%25ae/tables/todoitem HTTP/1.1",
        "a way up with a byte that is no text": "POST /api/..%E9/tables/todoitem HTTP/1.1",
        "an encoded way up": "POST /tables/%2e%2e/-/api/v1/sync HTTP/1.1",
        "a half encoded way up": "POST /tables/.%2e/-/api/v1/sync HTTP/1.1",
        "a way to the same place": "POST /./tables/todoitem HTTP/1.1",
        "a backslash": "POST /tables\\todoitem HTTP/1.1",
        "an encoded backslash": "POST /tables/%5Ctodoitem HTTP/1.1",
        "an encoded line end": "POST {target}%0d%0aX:%20y HTTP/1.1",
        "an encoded line feed": "POST {target}%0a HTTP/1.1",
        "an absolute target": "POST http://{host}{target} HTTP/1.1",
        "an absolute target by TLS": "POST https://{host}{target} HTTP/1.1",
        "another absolute target": "POST http://evil.example{target} HTTP/1.1",
        "a target with a user": "POST http://a:b@{host}{target} HTTP/1.1",
        "a file": "POST file:///etc/passwd HTTP/1.1",
        "a target without a slash": "POST tables/todoitem HTTP/1.1",
        "a star": "POST * HTTP/1.1",
        "a query without a path": "POST ?x=1 HTTP/1.1",
    },
}
# Bodies in chunks, by the status that a request with them gets.
CHUNKS = {
    400: {
        "no number": b"zz\r\n" + BODY + b"\r\n0\r\n\r\n",
        "an empty number": b"\r\n" + BODY + b"\r\n0\r\n\r\n",
        "a negative number": b"-12\r\n" + BODY + b"\r\n0\r\n\r\n",
        "a signed number": b"+12\r\n" + BODY + b"\r\n0\r\n\r\n",
        "a prefixed number": b"0x12\r\n" + BODY + b"\r\n0\r\n\r\n",
        "a blank before the number": b" 12\r\n" + BODY + b"\r\n0\r\n\r\n",
        "a number in other digits": b"\xb2\r\n" + BODY + b"\r\n0\r\n\r\n",
        "a number with a NUL": b"1\x002\r\n" + BODY + b"\r\n0\r\n\r\n",
        "a number with a letter behind": b"12g\r\n" + BODY + b"\r\n0\r\n\r\n",
        "too short a number": b"2\r\n" + BODY + b"\r\n0\r\n\r\n",
        "a number that is one too small": b"11\r\n" + BODY + b"\r\n0\r\n\r\n",
        "no line end": b"12\r\n" + BODY + b"0\r\n\r\n",
        "another line end": b"12\r\n" + BODY + b"\r\r0\r\n\r\n",
        "a length instead": b"18\r\n" + BODY + b"\r\n0\r\n\r\n",
    },
    413: {
        "a number beyond counting": b"FFFFFFFFFFFFFFFFF\r\n" + BODY + b"\r\n0\r\n\r\n",
        "a number of 64 bits": b"10000000000000012\r\n" + BODY + b"\r\n0\r\n\r\n",
    },
}
# What is refused in Understudy's own paths alone: behind another first segment it is the backend's matter.
OWN_LINES = {"bytes that are no text", "an encoded line end", "an encoded line feed"}
CROOKED_TARGETS = [
    "/tables/todoitem",
    "/tables/todoitem/a",
    "/-/api/v1/sync",
    "/%74ables/todoitem",
    "/api/custom",
]
OVERRIDES = ["X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override", "x-http-method-override"]
NO_JSON = [
    *TYPES, "text/html", "application/xml", "application/jsonp", "*/*", "json",
    "application/json, text/plain", "application/json+x", "image/svg+xml", "text/json",
]
CHARSETS = ["utf-16", "utf-7", "latin-1", "x"]
NO_ITEMS = [
    b"{", b"[]", b"null", b"1", b"\x00", b"\xff\xfe{}", b"{}{}", b"{'a':1}", b'{"a":NaN}', b"[" * 3000,
    b'{"id":"a/b\\u0000"}', b'{"id":"' + b"x" * 300 + b'"}', b'{"id":"."}', b"\xef\xbb\xbf[]",
    b'{"a":1,}', b'{"a":01}', b'{"a":"\n"}', b'{"a"}', b"\x1f\x8b\x08\x00packed",
]
# Whole requests without effect, by the status that they get; HOST stands for the right one.
PLAIN = {
    200: [
        b"GET /-/livez HTTP/1.1\r\nHost: HOST\r\n\r\n",
        # Empty lines before a request are no part of it (RFC 9112, 2.2).
        b"\r\n\r\nGET /-/livez HTTP/1.1\r\nHost: HOST\r\n\r\n",
        # Blanks around a value, and a field without one.
        b"GET /-/livez HTTP/1.1\r\nHost:HOST \t\r\nX: \t a \t\r\nY:\r\nZ:  \r\nCookie: a=b; c=\r\n\r\n",
        # A later minor version is one's own (RFC 9110, 6.2).
        b"GET /-/livez HTTP/1.2\r\nHost: HOST\r\n\r\n",
        b"GET /-/livez HTTP/1.0\r\nHost: HOST\r\n\r\n",
        b"HEAD /-/livez HTTP/1.1\r\nHost: HOST\r\n\r\n",
        b"GET /-/livez HTTP/1.1\r\nHost: HOST\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n",
        b"GET /-/livez HTTP/1.1\r\nHost: HOST\r\nConnection: Host\r\n\r\n",
        b"GET /-/livez HTTP/1.1\r\nHost: HOST\r\nContent-Length: 5\r\n\r\nhello",
        b"GET /-/livez HTTP/1.1\r\nHost: HOST\r\nContent-Length: 0\r\n\r\n",
        b"GET /-/livez HTTP/1.1\r\nHost: HOST\r\nX: \xe9\r\n\r\n",
        b"GET /-/livez?x=\xc3\xa9 HTTP/1.1\r\nHost: HOST\r\n\r\n",
        b"GET /-/livez?" + b"&" * 1_500 + b" HTTP/1.1\r\nHost: HOST\r\n\r\n",
    ],
    400: [
        *(
            b"GET /tables/todoitem?%s HTTP/1.1\r\nHost: HOST\r\n\r\n" % query
            for query in (
                b"&" * 128, b"&" * 900, b"&" * 5_000, b"&" * 16_000, b"a=1&" * 900, b"?__" * 900,
                b"$filter=%zz", b"$filter=(", b"$filter=text%20eq", b"$orderby=,", b"%%",
            )
        ),
        b"GET /-/livez HTTP/1.1\nHost: HOST\n\n",
        b"GET  /-/livez HTTP/1.1\r\nHost: HOST\r\n\r\n",
        b"GET /-/livez  HTTP/1.1\r\nHost: HOST\r\n\r\n",
        b"GET /-/livez HTTP/1.1\r\nHost:\r\n\r\n",
        b"GET /-/livez HTTP/1.1\r\nHost: HOST/\r\n\r\n",
        b"GET /-/livez HTTP/1.1\r\nHost: HOST, HOST\r\n\r\n",
        b"GET /-/livez HTTP/1.1\r\n X: 1\r\nHost: HOST\r\n\r\n",
        b"GET /-/livez HTTP/1.1\r\nHost:\r\n HOST\r\nHost: HOST\r\n\r\n",
        b"GET /-/livez HTTP/1.1\r\n\r\n",
        b"OPTIONS * HTTP/1.1\r\nHost: HOST\r\n\r\n",
        b"GET /\r\n\r\n",
        b"hello world foo bar HTTP/1.1\r\n\r\n",
        b"GET /-/livez#x HTTP/1.1\r\nHost: HOST\r\n\r\n",
    ],
    414: [b"A" * 200_000 + b"\r\n\r\n"],
    421: [
        b"GET /-/livez HTTP/1.0\r\n\r\n",
    ],
    None: [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
        b"SSH-2.0-x\r\n\r\n",
        b"GET\r\n\r\n",
    ],
}


def crooked(port):
    """Requests that two readers could take for different things, or that no reader should take."""
    host = f"127.0.0.1:{port}"
    smuggled = request(port, fields=[JSON])

    def whole(line, fields, body):
        head = f"{line}\r\nHost: {host}\r\n{JSON}\r\n{fields}\r\n\r\n"
        return head.encode("latin-1") + body + smuggled

    def named(groups):
        return ((status, name, value) for status, group in groups.items() for name, value in group.items())

    for target in CROOKED_TARGETS:
        line = f"POST {target} HTTP/1.1"
        for status, name, fields in named(FIELDS):
            chunked = "chunked" in fields and "Content-Length: 18" not in fields
            body = b"0\r\n\r\n" if chunked else BODY
            yield f"{name}, {target}", status, whole(line, fields.replace("{host}", host), body)
        for status, name, other in named(LINES):
            if name in OWN_LINES and target == "/api/custom":
                continue
            other = other.replace("{target}", target).replace("{host}", host)
            yield f"{name}, {target}", status, whole(other, "Content-Length: 18", BODY)
        for status, name, body in named(CHUNKS):
            yield f"{name}, {target}", status, whole(line, "Transfer-Encoding: chunked", body)
        old = f"POST {target} HTTP/1.0"
        yield f"old chunks, {target}", 400, whole(old, "Transfer-Encoding: chunked", BODY)
        yield f"no host, {target}", 400, request(port, "POST", target, False, [JSON]) + smuggled
        yield f"no old host, {target}", 421, request(port, "POST", target, False, [JSON], BODY, "1.0") + smuggled
        for raw_host in NO_HOSTS:
            raw = request(port, "POST", target, raw_host.format(port=port), [JSON])
            yield f"the host {raw_host!r}, {target}", 400, raw + smuggled
        folded = f"127.0.\r\n 0.1:{port}"
        yield f"a folded host, {target}", 400, request(port, "POST", target, folded, [JSON]) + smuggled
    for name, raw in cut(port):
        yield name, 400, raw


def foreign(port):
    """Requests of other names, origins and sites."""
    for host, method, target in itertools.product(HOSTS, METHODS, TARGETS):
        host = host.format(port=port)
        body = None if method == "GET" else BODY
        yield f"Host {host}, {method} {target}", 421, request(port, method, target, host, [JSON], body)
    for origin, method, target in itertools.product(ORIGINS, METHODS, TARGETS):
        body = None if method == "GET" else BODY
        raw = request(port, method, target, None, [f"Origin: {origin}", JSON], body)
        yield f"Origin {origin}, {method} {target}", 403, raw
    for site, method, target, origin in itertools.product(
        SITES, METHODS, TARGETS, [None, "https://evil.example"]
    ):
        fields = [f"Sec-Fetch-Site: {site}", "Sec-Fetch-Mode: cors", JSON]
        if origin:
            fields.append(f"Origin: {origin}")
        body = None if method == "GET" else BODY
        raw = request(port, method, target, None, fields, body)
        yield f"{site} from {origin}, {method} {target}", 403, raw


def unfit(port):
    """Requests that are read well and refused for what they want or bring."""
    smuggled = request(port, fields=[JSON])
    own = ["/tables/todoitem", "/tables/todoitem/a", "/-/api/v1/sync", "/%74ables/todoitem"]
    for name, value, method, target in itertools.product(
        OVERRIDES, ["DELETE", "PATCH", "MERGE", "GET", ""], ["GET", "POST", "PATCH"], own
    ):
        body = None if method == "GET" else BODY
        raw = request(port, method, target, None, [f"{name}: {value}", JSON], body)
        yield f"{name}: {value}, {method} {target}", 400, raw + (smuggled if body else b"")
    for kind, method in itertools.product(NO_JSON, ["POST", "PATCH", "PUT"]):
        target = "/tables/todoitem" if method == "POST" else "/tables/todoitem/a"
        raw = request(port, method, target, None, [f"Content-Type: {kind}"])
        yield f"{kind}, {method}", 415, raw + smuggled
        raw = request(port, method, target, None, [f"Content-Type: {kind}", "Expect: 100-continue"])
        yield f"{kind}, expected, {method}", 415, raw
    for charset, method in itertools.product(CHARSETS, ["POST", "PATCH", "PUT"]):
        # Read to its end and answered as any other, so that nothing may follow that is in order.
        target = "/tables/todoitem" if method == "POST" else "/tables/todoitem/a"
        fields = [f"{JSON}; charset={charset}"]
        yield f"{charset}, {method}", 415, request(port, method, target, None, fields)
    for fields, (method, target) in itertools.product(
        [
            [],
            ["Authorization: Bearer wrong"],
            ["Authorization: Bearer "],
            ["Authorization: Basic b3BlcmF0b3I6"],
            [f"Cookie: understudy_{port}=guess"],
            ["Understudy-Session: guess"],
        ],
        [
            ("GET", "/-/api/v1/status"), ("POST", "/-/api/v1/sync"), ("POST", "/-/api/v1/mode"),
            ("GET", "/%2D/api/v1/operations"), ("DELETE", "/-/api/v1/settings"),
        ],
    ):
        body = None if method == "GET" else b"{}"
        raw = request(port, method, target, None, [*fields, JSON], body)
        yield f"{fields}, {method} {target}", 401, raw + (smuggled if body else b"")
    for body in NO_ITEMS:
        yield f"the body {body[:20]}", 400, request(port, fields=[JSON], body=body)
        chunked = [JSON, "Transfer-Encoding: chunked"]
        raw = request(port, fields=chunked, body=None) + b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)
        yield f"the body {body[:20]} in chunks", 400, raw
    for status, raws in PLAIN.items():
        for raw in raws:
            yield f"{raw[:60]}", status, raw.replace(b"HOST", b"127.0.0.1:%d" % port)


def matrix(port):
    """Every request of the matrix: its name, the status that it must get (None where the connection is closed
    without an answer), its bytes."""
    yield from foreign(port)
    yield from crooked(port)
    yield from unfit(port)
