import HTTPMessage
import HTTPTypes
import TablesProtocol

// Custom APIs, which real backends have of their own making; the express flavour has none:
//
// | path | answer |
// |---|---|
// | `/api/echo` | the body as it came, with its content type; `X-Echo` says the rest of the request |
// | `/api/size` | how many bytes the body had |
// | `GET /api/bytes?count=N` | N bytes that count up from 0 to 250 and again, as they are taken |
extension TablesBackend {
    /// Answers a custom API; nil for everything else.
    func customAnswer(_ call: Call) -> Response? {
        if profile.hasOnlyListedTables { return nil }
        return switch call.request.path {
        case "/api/echo": echo(call)
        case "/api/size":
            json(.object([.init("bytes", .number(.init(Int64(call.request.body.count))))]))
        case "/api/bytes" where call.method == .get: bytes(call)
        default: nil
        }
    }

    /// The longest body that a path takes, in bytes.
    func bodyLimitBytes(_ request: Request) -> Int {
        request.path.hasPrefix("/api/") ? Limits.customBodyBytes : Limits.bodyBytes
    }

    private func echo(_ call: Call) -> Response {
        let head = call.request.head
        let fields = head.headerFields.map { field in
            JSONValue.array([.string(field.name.rawName), .string(field.value)])
        }
        let seen = JSONValue.object([
            .init("method", .string(head.method.rawValue)),
            .init("target", .string(head.path ?? "")), .init("fields", .array(fields)),
        ])
        var response = Response(
            status: .ok,
            headerFields: [
                .contentType: call.field(.contentType) ?? "application/octet-stream"
            ], body: call.request.body)
        response.head.headerFields.set("X-Echo", seen.text)
        return response
    }

    private func json(_ value: JSONValue) -> Response {
        Response(
            status: .ok, headerFields: [.contentType: "application/json"],
            body: Array(value.text.utf8))
    }

    private func bytes(_ call: Call) -> Response {
        let count = max(call.parameter("count").flatMap { Int($0) } ?? 0, 0)
        let stream = ByteStream()
        CountingBytes(stream, count: count).fill()
        return Response(
            head: HTTPResponse(
                status: .ok,
                headerFields: [
                    .contentType: "application/octet-stream", .contentLength: String(count),
                ]), stream: stream)
    }
}

/// Writes bytes that count up into a stream, as fast as its reader takes them.
private struct CountingBytes: Sendable {
    let stream: ByteStream
    let count: Int
    private let next: Int

    init(_ stream: ByteStream, count: Int, next: Int = 0) {
        self.stream = stream
        self.count = count
        self.next = next
    }

    func fill() {
        var next = next
        while next < count {
            let piece = (next..<min(next + 64 << 10, count)).map { UInt8($0 % 251) }
            guard stream.write(piece) else {
                // A cancelled stream refuses every piece, and would call back at once.
                if stream.isCancelled { return }
                let rest = CountingBytes(stream, count: count, next: next)
                return stream.onWritable { rest.fill() }
            }
            next += piece.count
        }
        stream.finish()
    }
}
