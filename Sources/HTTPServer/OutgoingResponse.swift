private import CMicroHTTPD
import Glibc
import HTTPMessage
import HTTPTypes

/// A response in libmicrohttpd's form, owned until the end of its scope.
///
/// `unsafe`: the pointer is the one reference that this value owns; `deinit` releases it. libmicrohttpd
/// copies bodies, names and values, and counts its own reference to a queued response.
@safe
struct OutgoingResponse: ~Copyable {
    private let pointer: OpaquePointer
    private let status: UInt32

    /// Whether a field frames the message on the wire, so that the server alone writes it. The length is
    /// compared first, since a set would hash every name of every answer.
    private static func isFraming(_ name: String) -> Bool {
        switch name.utf8.count {
        case 7: name == "upgrade"
        case 10: name == "connection" || name == "keep-alive"
        case 14: name == "content-length"
        case 17: name == "transfer-encoding"
        default: false
        }
    }

    /// A response with a whole body; libmicrohttpd copies the bytes, once.
    init?(head: HTTPResponse, bytes: [UInt8]) {
        let made = unsafe bytes.withUnsafeBytes { buffer in
            unsafe MHD_create_response_from_buffer(
                buffer.count, UnsafeMutableRawPointer(mutating: buffer.baseAddress),
                .RESPMEM_MUST_COPY)
        }
        guard let made = unsafe made else { return nil }
        unsafe self.init(made, head)
    }

    /// A response that is read from `feed` as it is sent, in chunks unless it has a length.
    init?(head: HTTPResponse, feed: StreamFeed, length: UInt64?) {
        // Retained here, released by `releaseFeed` when libmicrohttpd frees the response.
        let retained = unsafe Unmanaged.passRetained(feed)
        let made = unsafe MHD_create_response_from_callback(
            length ?? understudy_size_unknown,
            feed.isEndless ? Limits.eventPieceBytes : Limits.streamPieceBytes, readFeed,
            retained.toOpaque(), releaseFeed)
        guard let made = unsafe made else {
            unsafe retained.release()
            return nil
        }
        unsafe self.init(made, head)
    }

    /// A head alone. Without a length the connection closes after it.
    init?(headOnly head: HTTPResponse, length: UInt64?) {
        // libmicrohttpd requires a reader, but never calls it for HEAD and 304.
        let made = unsafe MHD_create_response_from_callback(
            length ?? understudy_size_unknown, Limits.streamPieceBytes, readFeed, nil, nil)
        guard let made = unsafe made else { return nil }
        if length == nil { _ = unsafe understudy_set_unchunked(made) }
        unsafe self.init(made, head)
    }

    private init(_ pointer: OpaquePointer, _ head: HTTPResponse) {
        unsafe self.pointer = pointer
        let code = head.status.code
        // A final answer has a status from 200 to 999; anything else is the handler's mistake.
        status = (200...999).contains(code) ? UInt32(code) : 500
        for field in head.headerFields { add(field) }
    }

    deinit { unsafe MHD_destroy_response(pointer) }

    private func add(_ field: HTTPField) {
        let name = field.name.canonicalName
        if Self.isFraming(name) {
            if name == "connection", field.value.lowercased() == "close" { closeConnection() }
            return
        }
        // An HTTPField has no CR, LF or NUL in it, and libmicrohttpd refuses them too.
        unsafe field.withUnsafeBytesOfValue { value in
            unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: value.count + 1) {
                text in
                unsafe UnsafeMutableRawBufferPointer(text).copyMemory(
                    from: UnsafeRawBufferPointer(value))
                unsafe text[value.count] = 0
                // withCString lends the name's own bytes; passing the string would copy it.
                _ = unsafe field.name.rawName.withCString { name in
                    unsafe MHD_add_response_header(pointer, name, text.baseAddress)
                }
            }
        }
    }

    /// Asks for the connection to be closed after this response.
    func closeConnection() { _ = unsafe MHD_add_response_header(pointer, "Connection", "close") }

    /// Queues the response; false when libmicrohttpd refuses it.
    func queue(on connection: OpaquePointer) -> Bool {
        unsafe MHD_queue_response(connection, status, pointer) == .YES
    }
}

/// `MHD_ContentReaderCallback`: fills `buffer`, which has `maxBytes`, from the feed. `feed.next` gives no
/// more.
private func readFeed(
    context: UnsafeMutableRawPointer?, position: UInt64, buffer: UnsafeMutablePointer<CChar>?,
    maxBytes: Int
) -> Int {
    guard let context = unsafe context, let buffer = unsafe buffer else {
        return understudy_stream_failed
    }
    let feed = unsafe Unmanaged<StreamFeed>.fromOpaque(context).takeUnretainedValue()
    switch feed.next(maxBytes: maxBytes) {
    case .bytes(let bytes):
        unsafe UnsafeMutableRawBufferPointer(start: buffer, count: maxBytes).copyBytes(from: bytes)
        return bytes.count
    case .wait:
        if feed.isEndless { unsafe releasePages(buffer, maxBytes) }
        return 0
    case .end: return understudy_stream_end
    case .close: return understudy_stream_failed
    }
}

/// Gives the whole pages of a buffer back to the system; read again, they are zeros.
///
/// While a stream of events is idle, most of its connection's memory is this buffer. libmicrohttpd 0.9.75 has
/// filled half of that memory with zeros when it was done with the head of the request.
///
/// Sound: libmicrohttpd lends the buffer to be written to, so its bytes mean nothing before that. It is part of
/// the connection's memory, which is anonymous and which no other thread uses now.
private func releasePages(_ buffer: UnsafeMutablePointer<CChar>, _ byteCount: Int) {
    let page = UInt(sysconf(CInt(_SC_PAGESIZE)))
    let start = UInt(bitPattern: buffer)
    let first = (start + page - 1) / page * page
    let end = (start + UInt(byteCount)) / page * page
    guard first < end else { return }
    _ = unsafe madvise(
        UnsafeMutableRawPointer(bitPattern: first), Int(end - first), CInt(MADV_DONTNEED))
}

/// `MHD_ContentReaderFreeCallback`: releases the feed that `init(head:feed:length:)` retained.
private func releaseFeed(context: UnsafeMutableRawPointer?) {
    guard let context = unsafe context else { return }
    unsafe Unmanaged<StreamFeed>.fromOpaque(context).release()
}

/// How a response's body is sent.
enum OutgoingBody {
    /// With a length; left out by libmicrohttpd where the answer has none (HEAD, 204, 304).
    case whole([UInt8])
    /// As it is written: in chunks, or with the length that the head announces.
    case streamed(ByteStream)
    /// Not at all, with its length where the head announces one.
    case none(length: UInt64?)

    /// Decides how a body is sent. libmicrohttpd would end a chunked answer to HEAD or a chunked 304 with a
    /// last chunk, which the client takes for the start of the next answer. It would also give a 304 without
    /// bytes the length 0, though that field describes the page that did not change.
    static func of(_ response: Response, toHead: Bool) -> OutgoingBody {
        let status = response.head.status
        switch response.body {
        case .bytes(let bytes) where bytes.isEmpty && status == .notModified:
            return .none(length: nil)
        case .bytes(let bytes): return .whole(bytes)
        case .stream where status == .noContent: return .whole([])
        case .stream where toHead: return .none(length: response.announcedBytes)
        case .stream where status == .notModified: return .none(length: nil)
        case .stream(let stream): return .streamed(stream)
        }
    }
}

extension RefusalReason {
    /// The answer: status and `{"error": sentence}`.
    var response: Response { Self.response(status, sentence: sentence) }

    /// An answer of the server's own: `status` and `{"error": sentence}`.
    /// - Parameter sentence: text without characters that JSON escapes.
    static func response(_ status: HTTPResponse.Status, sentence: String) -> Response {
        // The path may be one of the operator API, whose answers no other origin may read.
        var fields: HTTPFields = [
            .contentType: "application/json; charset=utf-8", .xContentTypeOptions: "nosniff",
            .contentSecurityPolicy: "default-src 'none'; frame-ancestors 'none'",
        ]
        if let policy = HTTPField.Name("Cross-Origin-Resource-Policy") {
            fields[policy] = "same-origin"
        }
        if status == .serviceUnavailable { fields[.retryAfter] = String(Limits.retryAfterSeconds) }
        return Response(
            status: status, headerFields: fields, body: Array("{\"error\":\"\(sentence)\"}".utf8))
    }
}
