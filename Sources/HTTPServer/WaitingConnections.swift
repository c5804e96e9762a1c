// For the kinds of reads, which either module may own.
import CMicroHTTPD
import Glibc

/// How much of a connection's first request has arrived.
enum Arrival: Sendable, Hashable {
    case part
    /// Not all of it, but ``Limits/peekedBytes``, or it does not say how long it is.
    case much
    case whole
}

/// What has arrived of a first request, judged without taking the bytes, which libmicrohttpd parses.
struct FirstRequest: Sendable {
    private static let headEnd = Array("\r\n\r\n".utf8)
    /// The bytes of the request, once its head is there; the most there can be where it does not say so.
    private var announced: Int?
    private var seen = 0

    /// Judges the first bytes, at most ``Limits/peekedBytes``.
    mutating func judge(_ bytes: ArraySlice<UInt8>) -> Arrival {
        if announced == nil {
            let new = bytes.dropFirst(max(0, seen - Self.headEnd.count + 1))
            seen = bytes.count
            announced = Self.end(ofHeadIn: new).map { end in
                Self.bodyBytes(bytes[..<end]).map { end - bytes.startIndex + $0 } ?? .max
            }
        }
        if let announced, bytes.count >= announced { return .whole }
        return announced == .max || bytes.count >= Limits.peekedBytes ? .much : .part
    }

    /// The index behind the empty line. `firstRange(of:)` takes milliseconds for 32 KiB, since it is not specialized.
    private static func end(ofHeadIn bytes: ArraySlice<UInt8>) -> Int? {
        unsafe bytes.withUnsafeBytes { text in
            var next = 0
            // memchr reads the bytes from `next` to the end of the buffer, which lives until this returns.
            while let start = text.baseAddress, next < text.count,
                let found = unsafe memchr(start + next, CInt(UInt8(ascii: "\n")), text.count - next)
            {
                next = unsafe UnsafeRawPointer(found) - start + 1
                if unsafe text[..<next].suffix(headEnd.count).elementsEqual(headEnd) {
                    return bytes.startIndex + next
                }
            }
            return nil
        }
    }

    /// The bytes of the body that a head announces; nil for a body in chunks, or one that the server is to ask for.
    private static func bodyBytes(_ head: ArraySlice<UInt8>) -> Int? {
        var bytes = 0
        let lines = String(decoding: head, as: UTF8.self).lowercased()
            .split(whereSeparator: \.isNewline)
        for line in lines {
            if line.hasPrefix("transfer-encoding:") || line.hasPrefix("expect:") { return nil }
            if line.hasPrefix("content-length:") {
                let value = line.dropFirst("content-length:".count)
                bytes = Int(value.filter { !$0.isWhitespace }) ?? 0
            }
        }
        return min(max(0, bytes), .max / 2)
    }
}

/// The connections that were accepted while many are open, each until its first request is there and has a place.
/// They take a descriptor and the kernel's buffer. Only the accepting thread uses them.
struct WaitingConnections {
    private struct Waiting {
        let descriptor: CInt
        let peer: SocketAddress
        let since = ConnectionRecord.now
        var request = FirstRequest()
        var arrival = Arrival.part
    }
    /// The first token of an event of such a connection. A later one has a larger token.
    static let firstToken: UInt64 = 1 << 48

    private let events: EventSet
    /// Whether connections are encrypted. Then a request is taken for whole with its first byte.
    private let isSecure: Bool
    private var members: [UInt64: Waiting] = [:]
    private var nextToken = Self.firstToken
    /// Those whose request is whole, and those of which much has arrived, in the order in which that was seen.
    private var whole: [UInt64] = []
    private var much: [UInt64] = []
    private var buffer = [UInt8](repeating: 0, count: Limits.peekedBytes)

    init(_ events: EventSet, isSecure: Bool) { (self.events, self.isSecure) = (events, isSecure) }

    var count: Int { members.count }
    /// The whole requests that wait for a place.
    var wholeCount: Int { whole.count }

    /// For how many that wait for a place others may be closed. A request of which much has arrived may be a slow one
    /// itself.
    var pressing: Int { whole.count + min(much.count, Limits.pressingBodies) }

    /// Takes an accepted connection over.
    mutating func add(_ descriptor: CInt, _ peer: SocketAddress) {
        members[nextToken] = Waiting(descriptor: descriptor, peer: peer)
        // What has arrived by now is an event too.
        events.add(descriptor, .arrival, token: nextToken)
        nextToken += 1
    }

    /// Looks at what has arrived at a connection. One whose client has closed in mid-request is closed.
    mutating func look(at token: UInt64) {
        guard var waiting = members[token], waiting.arrival == .part else { return }
        // recv writes at most as many bytes as the buffer has.
        let count = unsafe recv(waiting.descriptor, &buffer, buffer.count, CInt(MSG_PEEK))
        if count > 0 {
            waiting.arrival = isSecure ? .whole : waiting.request.judge(buffer[..<count])
        }
        members[token] = waiting
        switch waiting.arrival {
        case .whole: whole.append(token)
        case .much: much.append(token)
        case .part: if ConnectionRecord.hasPeerClosed(waiting.descriptor) { close(token) }
        }
    }

    /// Takes out the next one that may be served: a whole request before one of which much has arrived.
    /// - Parameter places: the connections that are served now.
    mutating func next(places: Int, _ limits: Limits) -> (descriptor: CInt, peer: SocketAddress)? {
        var token: UInt64?
        if !whole.isEmpty, places < limits.connections {
            token = whole.removeFirst()
        } else if !much.isEmpty, places < limits.bodyConnections {
            token = much.removeFirst()
        }
        guard let token, let waiting = members.removeValue(forKey: token) else { return nil }
        events.remove(waiting.descriptor)
        return (waiting.descriptor, waiting.peer)
    }

    /// Closes those whose requests have been arriving for longest.
    /// - Returns: false if none is arriving.
    mutating func evict() -> Bool {
        let slow = members.filter { $0.value.arrival == .part }.keys.sorted()
        for token in slow.prefix(1 + slow.count / Limits.evictedPart) { close(token) }
        return !slow.isEmpty
    }

    /// Closes those whose requests have been arriving for too long.
    mutating func cutOverdue(seconds: Int) {
        let oldest = ConnectionRecord.now - seconds * 1000
        for (token, waiting) in members where waiting.arrival == .part && waiting.since < oldest {
            close(token)
        }
    }

    mutating func closeAll() { for token in members.keys { close(token) } }

    private mutating func close(_ token: UInt64) {
        if let waiting = members.removeValue(forKey: token) { _ = Glibc.close(waiting.descriptor) }
    }
}
