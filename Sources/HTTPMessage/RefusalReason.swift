public import HTTPTypes

/// Why a server refused a request without its handler.
public enum RefusalReason: String, Error, Sendable, Hashable, CaseIterable {
    /// Host, Content-Length, Origin, Content-Type or If-Match came twice.
    case repeatedField
    /// Content-Length came together with Transfer-Encoding.
    case lengthAndEncoding
    /// A Transfer-Encoding other than one `chunked` in HTTP/1.1.
    case transferEncoding
    /// A Content-Length that is not a plain number.
    case contentLength
    /// A header name that is not a token.
    case fieldName
    /// A header value with a control character.
    case fieldValue
    /// More header fields than allowed.
    case fieldCount
    /// A target with a control character, a space, `%00`, or bytes that are not UTF-8, one without a slash at
    /// its beginning, or none.
    case target
    /// A method that is not a token.
    case method
    /// HTTP/1.1 without Host.
    case missingHost
    /// A Host that is no name or address with an optional port.
    case malformedHost
    /// A head with a line that is no field, a line that a bare line feed ends, or a NUL byte.
    case brokenHead
    /// A target longer than allowed.
    case targetLength
    /// Header fields longer than allowed, all together.
    case headLength
    /// A body longer than its admission allows.
    case bodyTooLarge
    /// Other request bodies use all the memory for bodies.
    case bodiesTooMany
    /// libmicrohttpd could not read the request and answered it by itself (400, 413, 414, 431).
    case unreadable
    case stopping

    public var status: HTTPResponse.Status {
        switch self {
        case .repeatedField, .lengthAndEncoding, .transferEncoding, .contentLength, .fieldName,
            .fieldValue, .target, .method, .missingHost, .malformedHost, .brokenHead,
            .unreadable:
            .badRequest
        case .fieldCount, .headLength: .requestHeaderFieldsTooLarge
        case .targetLength: .uriTooLong
        case .bodyTooLarge: .contentTooLarge
        case .bodiesTooMany, .stopping: .serviceUnavailable
        }
    }

    /// One sentence for the client's developer.
    public var sentence: String {
        switch self {
        case .repeatedField:
            "Host, Content-Length, Origin, Content-Type and If-Match may appear only once."
        case .lengthAndEncoding: "Content-Length and Transfer-Encoding exclude each other."
        case .transferEncoding: "The only Transfer-Encoding understood is chunked, in HTTP/1.1."
        case .contentLength: "Content-Length must be a plain number."
        case .fieldName: "A header name holds a character that is not allowed there."
        case .fieldValue: "A header value holds a control character."
        case .fieldCount: "The request has too many header fields."
        case .target:
            "The request target must begin with a slash and hold no character that must be encoded."
        case .method: "The method holds a character that is not allowed there."
        case .missingHost: "An HTTP/1.1 request needs a Host header."
        case .malformedHost: "Host must be a name or an address, and perhaps a port."
        case .brokenHead:
            "Each line of a request's head must end with CR and LF and be one field, not folded and "
                + "without NUL; single spaces divide the first line."
        case .targetLength: "The request target is longer than allowed."
        case .headLength: "The request's header fields are longer than allowed."
        case .bodyTooLarge: "The request body is larger than allowed here."
        case .bodiesTooMany:
            "Other requests with large bodies take all the memory that there is for them; try again "
                + "shortly."
        case .unreadable: "The request could not be read."
        case .stopping: "The server is stopping; try again shortly."
        }
    }
}
