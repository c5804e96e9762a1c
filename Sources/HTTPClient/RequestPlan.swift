import HTTPMessage
import HTTPTypes

/// A request in libcurl's terms, decided without libcurl.
struct RequestPlan: Equatable {
    enum Body: Equatable {
        /// Nothing, and no `Content-Length`.
        case none
        /// These bytes with their `Content-Length`, which is 0 when there are none.
        case bytes([UInt8])
        /// The bytes of a stream, with their length in bytes if it is known, otherwise in chunks.
        case stream(length: Int?)
    }

    /// Scheme and authority, for the connection and `Host`. libcurl normalises it.
    var url: String
    /// The request target as it is sent; libcurl copies it unchanged.
    var target: String
    /// The method's token.
    var method: String
    /// Field lines in libcurl's form (`Name: value`; `Name;` for an empty value; `Name:` for "do not
    /// send your own"), in the request's order.
    var fieldLines: [[UInt8]]
    var body: Body
    /// Whether the method is safe, so that libcurl may send it again by itself.
    var isSafe: Bool
    /// Whether libcurl requests encoded answers and decodes them.
    var decodes: Bool

    /// Fields of the connection or of the message's framing, which libcurl writes by itself, and
    /// `Accept-Encoding`, which must name what libcurl can decode.
    private static let ownedFields: Set<String> = [
        "host", "content-length", "transfer-encoding", "expect", "connection", "keep-alive",
        "proxy-connection", "te", "trailer", "upgrade", "accept-encoding",
    ]

    /// Plans a request.
    /// - Parameter isRaw: whether `Accept-Encoding` is sent as it is, and the answer stays encoded.
    /// - Throws: ``TransportError`` with cause `invalid` when the head cannot be sent.
    init(
        _ request: Request, configuration: ClientConfiguration, isRaw: Bool = false
    ) throws(TransportError) {
        let head = request.head
        let authority = head.authority ?? ""
        guard let scheme = head.scheme?.lowercased(), scheme == "http" || scheme == "https" else {
            throw .invalid("The scheme must be http or https.")
        }
        guard !authority.isEmpty, authority.utf8.allSatisfy(Self.isAuthorityByte) else {
            throw .invalid("The authority must be a host with an optional port: \(authority)")
        }
        let path = head.path ?? "/"
        guard path.hasPrefix("/") || (path == "*" && head.method == .options),
            path.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F })
        else { throw .invalid("The path must begin with / and have no space or control byte.") }
        guard head.method != .connect else { throw .invalid("CONNECT cannot be sent.") }
        guard head.method != .head || request.body.isEmpty else {
            throw .invalid("A HEAD request has no body.")
        }

        url = "\(scheme)://\(authority)/"
        let isThroughHTTPProxy = scheme == "http" && configuration.proxy?.hasPrefix("http") == true
        target = isThroughHTTPProxy ? "\(scheme)://\(authority)\(path)" : path
        method = head.method.rawValue
        isSafe = [.get, .head, .options].contains(head.method)
        decodes = !isRaw && head.headerFields[.range] == nil
        body = Self.body(request)
        var fields = head.headerFields
        for field in configuration.fields { fields[field.name] = field.value }
        fieldLines = Self.fieldLines(fields, isRaw: isRaw)
    }

    /// POST, PUT and PATCH without a body get `Content-Length: 0`, since their meaning includes a body.
    private static func body(_ request: Request) -> Body {
        if request.bodyStream != nil {
            return .stream(length: request.head.headerFields[.contentLength].flatMap { Int($0) })
        }
        let expectsContent = [.post, .put, .patch].contains(request.head.method)
        return request.body.isEmpty && !expectsContent ? .none : .bytes(request.body)
    }

    private static func fieldLines(_ fields: HTTPFields, isRaw: Bool) -> [[UInt8]] {
        var lines: [[UInt8]] = []
        for field in fields {
            let isOwned = ownedFields.contains(field.name.canonicalName)
            guard !isOwned || (isRaw && field.name == .acceptEncoding) else { continue }
            // Safe: the bytes are copied before the closure returns.
            let value = unsafe field.withUnsafeBytesOfValue { unsafe Array($0) }
            let name = Array(field.name.rawName.utf8)
            lines.append(value.isEmpty ? name + [0x3B] : name + [0x3A, 0x20] + value)
        }
        lines.append(Array("Expect:".utf8))
        for name in [HTTPField.Name.accept, .contentType] where fields[name] == nil {
            lines.append(Array("\(name.rawName):".utf8))
        }
        return lines
    }

    /// Whether a byte may stand in an authority. Not `@`, since libcurl would take what is before it for a
    /// user name, and not `/`, `?`, `#`, `%` or blanks.
    private static func isAuthorityByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "-._~:[]".utf8.contains(byte)
        }
    }
}

extension TransportError {
    /// A request that cannot be sent as it is.
    static func invalid(_ message: String) -> TransportError {
        TransportError(reach: .notSent, cause: .invalid, message: message)
    }
}
