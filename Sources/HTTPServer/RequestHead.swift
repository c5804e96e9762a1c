import HTTPMessage
import HTTPTypes

/// Collects the header fields of one request in wire order and judges them: libmicrohttpd 0.9.75
/// takes repeated and contradictory fields without complaint.
struct RequestHeadReader {
    /// Fields that may appear once only.
    private struct Once: OptionSet {
        let rawValue: Int
        static let host = Once(rawValue: 1)
        static let contentLength = Once(rawValue: 2)
        static let origin = Once(rawValue: 4)
        static let contentType = Once(rawValue: 8)
        static let ifMatch = Once(rawValue: 16)
        static let transferEncoding = Once(rawValue: 32)
    }

    private let limits: Limits
    private var fields = HTTPFields()
    private var count = 0
    private var bytes = 0
    private var host: String?
    private var seen: Once = []
    private var refusal: RefusalReason?
    private var encoding: String?
    private var contentLength: Int?
    private var expectsContinue = false

    init(limits: Limits) {
        self.limits = limits
    }

    /// Adds the next field. The first violation decides the refusal.
    mutating func add(name: some Collection<UInt8>, value: some Collection<UInt8>) {
        guard refusal == nil else { return }
        count += 1
        guard count <= limits.headerFields else { return refusal = .fieldCount }
        bytes += name.count + value.count + Limits.fieldFrameBytes
        guard bytes <= limits.headBytes else { return refusal = .headLength }
        guard let fieldName = HTTPField.Name(String(decoding: name, as: UTF8.self)) else {
            return refusal = .fieldName
        }
        guard value.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else {
            return refusal = .fieldValue
        }
        let field = HTTPField(name: fieldName, value: value)
        refusal = record(field)
        // swift-http-types keeps Host in `authority`.
        if fieldName.canonicalName != "host" { fields.append(field) }
    }

    private mutating func record(_ field: HTTPField) -> RefusalReason? {
        switch field.name.canonicalName {
        case "host":
            host = field.value
            return isRepeated(.host) ? .repeatedField : nil
        case "content-length":
            let digits = field.value.utf8
            guard !digits.isEmpty, digits.allSatisfy({ (0x30...0x39).contains($0) }),
                let length = Int(field.value)
            else { return .contentLength }
            contentLength = length
            return isRepeated(.contentLength) ? .repeatedField : nil
        case "transfer-encoding":
            encoding = field.value.lowercased()
            return isRepeated(.transferEncoding) ? .transferEncoding : nil
        case "origin": return isRepeated(.origin) ? .repeatedField : nil
        case "content-type": return isRepeated(.contentType) ? .repeatedField : nil
        case "if-match": return isRepeated(.ifMatch) ? .repeatedField : nil
        case "expect":
            expectsContinue = field.value.lowercased() == "100-continue"
            return nil
        default: return nil
        }
    }

    private mutating func isRepeated(_ field: Once) -> Bool { !seen.insert(field).inserted }

    /// Judges the whole head.
    /// - Parameters:
    ///   - target: nil when there was none or it was not UTF-8.
    ///   - isWhole: whether the parts that were given are the whole head, see ``HeadLayout``.
    consuming func finish(
        method: String, target: String?, version: String, isWhole: Bool
    ) -> Result<RequestHead, RefusalReason> {
        if let refusal { return .failure(refusal) }
        guard let method = HTTPRequest.Method(method) else { return .failure(.method) }
        guard let target else { return .failure(.target) }
        if let refusal = Self.refusal(ofTarget: target, limits) { return .failure(refusal) }
        // `*` stands for the server itself (RFC 9112, 3.2.4).
        guard target.utf8.first == UInt8(ascii: "/") || target == "*" && method == .options else {
            return .failure(.target)
        }
        guard isWhole else { return .failure(.brokenHead) }
        let isOldVersion = version == "HTTP/1.0"
        if let host {
            guard HostSyntax.isValid(host) else { return .failure(.malformedHost) }
        } else if !isOldVersion {
            return .failure(.missingHost)
        }
        var framing = RequestHead.Framing.none
        if let encoding {
            if contentLength != nil { return .failure(.lengthAndEncoding) }
            if encoding != "chunked" || isOldVersion { return .failure(.transferEncoding) }
            framing = .chunked
        } else if let contentLength, contentLength > 0 {
            framing = .length(contentLength)
        }
        return .success(
            RequestHead(
                request: HTTPRequest(
                    method: method, scheme: "http", authority: host, path: target,
                    headerFields: fields),
                framing: framing,
                expectsContinue: expectsContinue && !isOldVersion && framing != .none))
    }

    /// Why a target is refused; nil when it is not.
    static func refusal(ofTarget target: String, _ limits: Limits) -> RefusalReason? {
        guard isClean(target) else { return .target }
        return target.utf8.count <= limits.targetBytes ? nil : .targetLength
    }

    /// Whether a target has no control character, no space, and no encoded NUL, which would end the target
    /// for servers that decode into C strings. `unsafe`: every index is below `bytes.count`.
    private static func isClean(_ target: String) -> Bool {
        var target = target
        return target.withUTF8 { bytes in
            guard !bytes.isEmpty else { return false }
            for index in bytes.indices {
                let byte = unsafe bytes[index]
                if byte <= 0x20 || byte == 0x7F { return false }
                if byte == UInt8(ascii: "%"), index + 2 < bytes.count,
                    unsafe bytes[index + 1] == UInt8(ascii: "0"),
                    unsafe bytes[index + 2] == UInt8(ascii: "0")
                {
                    return false
                }
            }
            return true
        }
    }
}

/// A request's head that ``RequestHeadReader`` has accepted.
struct RequestHead: Sendable {
    /// How the body is delimited.
    enum Framing: Sendable, Hashable {
        case none
        case length(Int)
        case chunked
    }
    /// The head as handlers see it: raw target in `path`, Host in `authority`.
    var request: HTTPRequest
    var framing: Framing
    /// The client waits for `100 Continue` before it sends the body.
    var expectsContinue: Bool
}

/// The syntax of a Host field: a name or an IPv4 address, or an IPv6 address in brackets, and perhaps a port.
///
/// A name has letters, digits and `-._~`. RFC 3986 allows it more, which no name of a machine has, and which
/// links and `Location` would repeat.
enum HostSyntax {
    /// Whether `host` is `name`, `name:port`, `[address]` or `[address]:port`.
    static func isValid(_ host: String) -> Bool {
        let bytes = host.utf8
        guard bytes.first == UInt8(ascii: "[") else {
            let end = bytes.firstIndex(of: UInt8(ascii: ":")) ?? bytes.endIndex
            let name = bytes[..<end]
            return !name.isEmpty && name.allSatisfy(PercentCoding.isUnreserved)
                && isPort(bytes[end...])
        }
        guard let end = bytes.firstIndex(of: UInt8(ascii: "]")) else { return false }
        let address = Substring(bytes[..<end].dropFirst())
        return address.utf8.contains(UInt8(ascii: ":"))
            && SocketAddress(host: String(address), port: 0) != nil
            && isPort(bytes[end...].dropFirst())
    }

    /// Whether `text` is empty, or a colon and a port. The port may be empty (RFC 3986, 3.2.3).
    private static func isPort(_ text: Substring.UTF8View) -> Bool {
        guard let colon = text.first else { return true }
        let digits = text.dropFirst()
        guard colon == UInt8(ascii: ":"), digits.allSatisfy(isDigit) else { return false }
        return digits.isEmpty || UInt16(Substring(digits)) != nil
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
}

/// Where the parts of a head stand in libmicrohttpd's memory: proof that they are the whole head.
///
/// libmicrohttpd 0.9.75 reads a head in one buffer and writes NUL bytes over what separates its texts. It
/// does not say what it passed over: it ends a head at a line that begins with a colon or a NUL byte, a
/// value at a NUL byte, takes a bare line feed for a line's end, and moves a folded field elsewhere. Each of
/// these leaves a gap of another size between two texts, or behind the last one. So a head is whole when
/// every text begins where the one before ended, and the last line ends where the head does. Only a colon or
/// a NUL byte right before a bare line feed cannot be told from CR and LF (docs/decisions/requests.md).
///
/// Addresses are numbers here: they are compared, and nothing is read from them.
struct HeadLayout {
    struct Text: Hashable {
        let address: UInt
        let byteCount: Int
        var end: UInt { address &+ UInt(bitPattern: byteCount) }
    }

    private let start: UInt
    /// Where the next line begins.
    private var line: UInt
    private var isContiguous: Bool
    /// Whether the target ends right before the version. If not, a NUL byte has cut it.
    let isTargetWhole: Bool

    /// Begins with the texts of the request line, one blank between each two.
    init(method: Text, target: Text, version: Text) {
        start = method.address
        line = version.end &+ Limits.lineEndBytes
        isTargetWhole = target.end &+ 1 == version.address
        isContiguous = isTargetWhole && method.end &+ 1 == target.address
    }

    /// Adds the next field, in wire order. Between the name and the value are the colon and any blanks.
    mutating func add(name: Text, value: Text) {
        if name.address != line || name.byteCount == 0 || value.address <= name.end {
            isContiguous = false
        }
        line = value.end &+ Limits.lineEndBytes
    }

    /// Whether the texts are the whole head.
    /// - Parameter headBytes: the size of the head, from its method to the end of its empty line.
    func isWhole(headBytes: Int) -> Bool {
        isContiguous && start &+ UInt(bitPattern: headBytes) == line &+ Limits.lineEndBytes
    }
}
