import Glibc
import HTTPMessage
import HTTPTypes

/// The first line of a request, as it stands on the wire.
struct RequestLine {
    let method: String
    /// Nil when there was none, when it was not UTF-8 or cut by a NUL byte.
    let target: String?
    let version: String
}

/// The head of a connection's last request. Clients send the same fields with every request; those
/// that repeat it byte for byte, in the same order, are judged already: what is allowed in a head
/// depends on nothing else but the target.
final class KnownHead: Sendable {
    fileprivate let judged: RequestHead
    /// Each name and value, behind its length.
    fileprivate let wire: [UInt8]
    /// Goes to the handler with each request that repeats this one.
    let memo = FieldsMemo()

    /// Keeps the head of a read; nil where it is no such, or too long.
    init?(_ head: RequestHead, _ line: RequestLine, wire: [UInt8]?) {
        guard let wire, line.method == Self.method, line.version == Self.version,
            head.framing == .none, !head.expectsContinue
        else { return nil }
        judged = head
        self.wire = wire
    }

    /// Whether a request begins with the same method and version.
    func begins(as line: RequestLine) -> Bool {
        line.method == Self.method && line.version == Self.version
    }

    private static let method = "GET"
    private static let version = "HTTP/1.1"
}

/// A request that repeats the known head but for its target, which nobody has looked at yet.
struct RepeatedHead {
    let known: KnownHead
    let line: RequestLine
    let connection: Connection

    /// The same for a handler; nil where the target cannot be read.
    var request: RepeatedRequest? {
        line.target.map {
            RepeatedRequest(target: $0, memo: known.memo, worker: connection.worker)
        }
    }

    /// The whole head, judged.
    func judged(_ limits: Limits) -> Result<RequestHead, RefusalReason> {
        guard let target = line.target else { return .failure(.target) }
        if let refusal = RequestHeadReader.refusal(ofTarget: target, limits) {
            return .failure(refusal)
        }
        var head = known.judged
        head.request.path = target
        head.memo = known.memo
        return .success(head)
    }
}

/// Collects the fields of a head twice: judged, and as they stand on the wire.
struct HeadReading {
    var reader: RequestHeadReader
    /// Nil when there are too many bytes to be remembered.
    private(set) var wire: [UInt8]?
    private let limits: Limits

    init(limits: Limits) {
        reader = RequestHeadReader(limits: limits)
        self.limits = limits
        wire = []
    }

    /// Takes the next field.
    mutating func add(name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) {
        unsafe reader.add(name: name, value: value)
        guard var wire else { return }
        self.wire = nil
        guard wire.count + name.count + value.count <= limits.rememberedHeadBytes else { return }
        unsafe FieldBytes(name).append(to: &wire)
        unsafe FieldBytes(value).append(to: &wire)
        self.wire = wire
    }
}

/// Compares the fields of a request with those of a known head, one after the other.
struct Repetition {
    private let known: KnownHead
    private var place = 0
    private var isSame = true

    init(of known: KnownHead) { self.known = known }

    /// Whether all fields were the same, and none is missing.
    var isWhole: Bool { isSame && place == known.wire.count }

    /// Takes the next field; false when the rest does not matter.
    mutating func compare(name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) -> Bool {
        isSame =
            unsafe FieldBytes(name).match(known.wire, &place)
            && FieldBytes(value).match(known.wire, &place)
        return isSame
    }
}

/// The name or value of a field, as long as libmicrohttpd's iterator shows it.
@safe
private struct FieldBytes {
    private static let lengthBytes = 4
    private let bytes: UnsafeRawBufferPointer
    private let count: Int

    init(_ bytes: UnsafeRawBufferPointer) {
        unsafe self.bytes = bytes
        count = bytes.count
    }

    private func length(_ index: Int) -> UInt8 {
        UInt8(truncatingIfNeeded: count >> (8 * index))
    }

    func append(to wire: inout [UInt8]) {
        for index in 0..<Self.lengthBytes { wire.append(length(index)) }
        unsafe wire.append(contentsOf: bytes)
    }

    /// Whether the same bytes stand at `place`, which then moves behind them.
    func match(_ wire: [UInt8], _ place: inout Int) -> Bool {
        let start = place + Self.lengthBytes
        guard start + count <= wire.count else { return false }
        for index in 0..<Self.lengthBytes where wire[place + index] != length(index) {
            return false
        }
        place = start + count
        return unsafe wire.withUnsafeBytes { known in
            guard let known = known.baseAddress, let own = unsafe bytes.baseAddress else {
                return count == 0
            }
            return unsafe memcmp(known + start, own, count) == 0
        }
    }
}
