import HTTPMessage
import HTTPTypes
import Synchronization
import TablesProtocol

/// The reads of one client that need no look at their heads any more.
///
/// A client sends the same header fields with request after request. What the guard says of a `GET`
/// on `/tables`, which SDK asks and with which token follow from them, from the connection and from
/// the target; nothing else goes into it (``Routes/isLasting(_:)`` leaves out what would). So
/// there are answers to two questions here:
/// 1. the very target that was let through before is let through again, and means the same;
/// 2. `/tables/NAME/ID` of letters, digits, `-` and `_` alone is let through when another such was,
///    and means the same for another item.
final class KnownReads: Sendable {
    /// One read, understood.
    struct Read: Sendable {
        var call: TableCall
        var answer: TablesAnswer
        /// The client's token; nil for none.
        let token: Token?
    }

    private struct State {
        /// The last read that was not of the second kind, with its target.
        var last: (target: String, read: Read)?
        /// The last one of the second kind.
        var item: Read?
    }
    private let state = Mutex(State())
    /// The edition of the guard's rules under which all of it was let through.
    let edition: Int

    /// Nothing yet.
    init(edition: Int) { self.edition = edition }

    /// Keeps a read that was let through and understood.
    func keep(_ read: Read, of request: Request) {
        guard let target = request.head.path else { return }
        state.withLock { state in
            if case .get = read.call.verb, PlainItemPath(target) != nil {
                state.item = read
            } else {
                state.last = (target, read)
            }
        }
    }

    /// Whether the guard would let a request through: it looks at no more of a target than these do.
    func passes(_ request: Request) -> Bool {
        guard let target = request.head.path else { return false }
        return state.withLock { state in
            if let last = state.last, last.target.utf8.elementsEqual(target.utf8) { return true }
            return state.item != nil && PlainItemPath(target) != nil
        }
    }

    /// What a request asks for; nil when it has to be looked at.
    func read(_ request: Request) -> Read? {
        guard let target = request.head.path else { return nil }
        return state.withLock { state in
            if let last = state.last, last.target.utf8.elementsEqual(target.utf8) {
                return last.read
            }
            guard let item = state.item, let path = PlainItemPath(target) else { return nil }
            return item.of(path)
        }
    }
}

extension KnownReads.Read {
    /// The same read of another item.
    fileprivate func of(_ path: PlainItemPath) -> KnownReads.Read? {
        guard case .get(_, let query) = call.verb, let id = try? ItemID(String(path.id)) else {
            return nil
        }
        var read = self
        read.call.verb = .get(id, query)
        if !call.table.text.utf8.elementsEqual(path.table.utf8) {
            guard let table = TableName(path.table) else { return nil }
            read.call.table = table
            read.call.origin.tablePath = String(path.tablePath)
        }
        read.answer = TablesAnswer(to: read.call, like: answer)
        return read
    }
}

/// `/tables/NAME/ID` without anything that would have to be decoded or could be taken for something
/// else: the guard's and the routes' own splitting and decoding leave it as it is.
struct PlainItemPath {
    let tablePath: Substring
    let table: Substring
    let id: Substring

    /// Splits a target; nil when it is none of that kind.
    init?(_ target: String) {
        let bytes = target.utf8
        guard bytes.starts(with: Self.prefix) else { return nil }
        let table = bytes.dropFirst(Self.prefix.count).prefix(while: Self.isPlain)
        let rest = bytes[table.endIndex...]
        guard !table.isEmpty, rest.first == UInt8(ascii: "/") else { return nil }
        let id = rest.dropFirst()
        guard !id.isEmpty, id.allSatisfy(Self.isPlain) else { return nil }
        self.table = Substring(table)
        self.id = Substring(id)
        tablePath = target[..<table.endIndex]
    }

    private static let prefix = Array("/tables/".utf8)

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}
