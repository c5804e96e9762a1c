import HTTPMessage
import HTTPTypes

/// Builds a response from libcurl's head lines and body pieces, within limits.
struct ResponseCollector {
    /// The result of adding a line or piece.
    enum Intake: Equatable {
        case taken
        case tooLarge
        case malformed
    }
    private enum Phase {
        case statusLine, fields, body
    }

    private let headLimitBytes: Int
    private let bodyLimitBytes: Int
    private var phase = Phase.statusLine
    /// The bytes of the head so far, 1xx heads before it included; then those of the trailer.
    private var headBytes = 0
    private var head = HTTPResponse(status: .init(code: 0))
    private var body: [UInt8] = []
    /// The bytes of a streamed body so far.
    private var passedBytes = 0
    /// The result of the first line or piece that was not taken; nil if all were.
    private(set) var refusal: Intake?

    /// Makes a collector.
    /// - Parameter headLimitBytes: the limit of the head, and of a trailer, which has it for itself.
    init(headLimitBytes: Int, bodyLimitBytes: Int) {
        self.headLimitBytes = headLimitBytes
        self.bodyLimitBytes = bodyLimitBytes
    }

    /// Whether the empty line that ends the head of a final (not 1xx) response was seen.
    var isHeadComplete: Bool {
        phase == .body
    }

    /// Takes one line of a head with its line end.
    mutating func take(headLine line: [UInt8]) -> Intake {
        headBytes += line.count
        guard headBytes <= headLimitBytes else { return refuse(.tooLarge) }
        let text = line.trimmed
        switch phase {
        case .statusLine:
            guard let status = Self.status(text) else { return refuse(.malformed) }
            head = HTTPResponse(status: status)
            phase = .fields
        case .fields where line.allSatisfy({ $0 == 0x0D || $0 == 0x0A }):
            guard hasOneLength else { return refuse(.malformed) }
            phase = head.status.kind == .informational ? .statusLine : .body
            if isHeadComplete { headBytes = 0 }
        case .fields:
            takeField(text, isFolded: line.first == 0x20 || line.first == 0x09)
        case .body:
            break  // A trailer of a chunked body is not used.
        }
        return .taken
    }

    /// Whether a body may come: not before the end of a final head. If not, the response is refused.
    mutating func mayHaveBody() -> Bool {
        if !isHeadComplete { _ = refuse(.malformed) }
        return isHeadComplete
    }

    /// Takes a piece of the decoded body.
    mutating func take(body piece: some Collection<UInt8>) -> Intake {
        guard piece.count <= bodyLimitBytes - body.count else { return refuse(.tooLarge) }
        body.append(contentsOf: piece)
        return .taken
    }

    /// Whether a streamed body may have `bytes` more bytes. If not, the response is refused.
    mutating func hasRoom(for bytes: Int) -> Bool {
        guard bytes <= bodyLimitBytes - passedBytes else {
            _ = refuse(.tooLarge)
            return false
        }
        return true
    }

    /// Counts bytes of a streamed body.
    mutating func passed(bytes: Int) { passedBytes += bytes }

    /// The response, once it is whole.
    /// - Parameter decoded: whether libcurl decoded the body. Then the fields on the encoded bytes are left
    ///   out.
    func response(decoded: Bool) -> Response {
        var head = head
        if decoded, head.headerFields[.contentEncoding] != nil {
            head.headerFields[.contentEncoding] = nil
            head.headerFields[.contentLength] = nil
        }
        return Response(head: head, body: body)
    }

    /// Whether the head does not announce two lengths for one body (RFC 9112, section 6.3).
    private var hasOneLength: Bool {
        let fields = head.headerFields
        return fields[.transferEncoding] != nil || Set(fields[values: .contentLength]).count <= 1
    }

    private mutating func refuse(_ why: Intake) -> Intake {
        refusal = refusal ?? why
        return why
    }

    /// A line without a usable name is dropped; a folded line continues the field before it.
    private mutating func takeField(_ text: ArraySlice<UInt8>, isFolded: Bool) {
        if isFolded {
            guard let last = head.headerFields.last, !text.isEmpty else { return }
            let value = Array(last.value.utf8) + [0x20] + text
            let end = head.headerFields.index(before: head.headerFields.endIndex)
            head.headerFields[end] = HTTPField(name: last.name, lenientValue: value)
            return
        }
        guard let colon = text.firstIndex(of: 0x3A),
            let name = HTTPField.Name(String(decoding: text[..<colon], as: UTF8.self))
        else { return }
        let value = Array(text[(colon + 1)...]).trimmed
        head.headerFields.append(HTTPField(name: name, lenientValue: value))
    }

    /// `HTTP/1.1 404 Not Found` or `HTTP/2 404`.
    private static func status(_ text: ArraySlice<UInt8>) -> HTTPResponse.Status? {
        let parts = String(decoding: text, as: UTF8.self)
            .split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count >= 2, parts[0].hasPrefix("HTTP/"), parts[1].utf8.count == 3,
            let code = Int(parts[1]), (100...999).contains(code)
        else { return nil }
        guard parts.count == 3, !parts[2].isEmpty else { return .init(code: code) }
        return .init(code: code, reasonPhrase: String(parts[2]))
    }
}

extension [UInt8] {
    /// The bytes without spaces, tabs and line ends at either side.
    fileprivate var trimmed: ArraySlice<UInt8> {
        func isBlank(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0D, 0x0A].contains(byte) }
        guard let first = firstIndex(where: { !isBlank($0) }),
            let last = lastIndex(where: { !isBlank($0) })
        else { return [] }
        return self[first...last]
    }
}
