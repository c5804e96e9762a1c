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
/// 2. `/tables/NAME/ID` of letters, digits, `-` and `_` alone is let through when another such of the
///    same table was, and means the same for another item.
final class KnownReads: Sendable {
    /// One read, understood.
    final class Read: Sendable {
        let call: TableCall
        let answer: TablesAnswer
        /// The client's token; nil for none.
        let token: Token?
        /// The request, without the memo that this is kept in.
        let request: Request

        init(call: TableCall, answer: TablesAnswer, token: Token?, request: Request) {
            self.call = call
            self.answer = answer
            self.token = token
            var request = request
            request.memo = nil
            self.request = request
        }
    }

    /// What a target asks for.
    enum Known {
        case same(Read)
        case item(ItemID, like: Read)
    }

    private struct State {
        /// The last read that was not of the second kind, with its target.
        var last: (target: String, read: Read)?
        /// The last one of the second kind, with its target up to the id.
        var item: (start: String, read: Read)?
    }
    private let state = Mutex(State())
    /// The edition of the guard's rules under which all of it was let through.
    let edition: Int

    /// Nothing yet.
    init(edition: Int) { self.edition = edition }

    /// Keeps a read that was let through and understood.
    func keep(_ read: Read) {
        guard let target = read.request.head.path else { return }
        state.withLock { state in
            if case .get = read.call.verb, let path = PlainItemPath(target) {
                state.item = (path.start, read)
            } else {
                state.last = (target, read)
            }
        }
    }

    /// What a target asks for; nil when it has to be looked at.
    func read(_ target: String) -> Known? {
        state.withLock { state in
            if let item = state.item, let path = PlainItemPath(target, after: item.start),
                let id = try? ItemID(path.id)
            {
                return .item(id, like: item.read)
            }
            guard let last = state.last, last.target.utf8.elementsEqual(target.utf8) else {
                return nil
            }
            return .same(last.read)
        }
    }
}

/// `/tables/NAME/ID` without anything that would have to be decoded or could be taken for something
/// else: the guard's and the routes' own splitting and decoding leave it as it is.
struct PlainItemPath {
    /// The target up to the id, with the slash before it.
    let start: String
    let id: String

    /// Splits a target; nil when it is none of that kind.
    init?(_ target: String) {
        let bytes = target.utf8
        guard bytes.starts(with: Self.prefix) else { return nil }
        let table = bytes.dropFirst(Self.prefix.count).prefix(while: ItemID.isPlain)
        guard !table.isEmpty, table.endIndex < bytes.endIndex else { return nil }
        self.init(target, after: String(target[...table.endIndex]))
    }

    /// The same where it is known how the target begins.
    init?(_ target: String, after start: String) {
        let (bytes, known) = (target.utf8Span.span, start.utf8Span.span)
        guard bytes.count > known.count else { return nil }
        for place in 0..<known.count where bytes[place] != known[place] { return nil }
        for place in known.count..<bytes.count where !ItemID.isPlain(bytes[place]) { return nil }
        self.start = start
        id = String(target[target.utf8.index(target.startIndex, offsetBy: known.count)...])
    }

    private static let prefix = Array("/tables/".utf8)
}
