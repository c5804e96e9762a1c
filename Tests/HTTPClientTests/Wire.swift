import Glibc

/// The server's end of one TCP connection, for a script that runs on a thread of its own and may
/// therefore block. Text is Latin-1: one character for each byte.
struct Wire: Sendable {
    /// Counts from 1 in the order of acceptance.
    let number: Int
    let descriptor: Int32
    let note: @Sendable (String) -> Void

    /// The next request, head and body (`Content-Length`) together; nil if the client has closed.
    func readRequest() -> String? {
        var bytes: [UInt8] = []
        var wanted: Int?
        while wanted.map({ bytes.count < $0 }) ?? true {
            guard let more = readSome() else { return nil }
            bytes += more
            if wanted == nil, let end = bytes.headEnd {
                wanted = end + String(latin1: Array(bytes[..<end])).contentLength
            }
        }
        let text = String(latin1: bytes)
        note(text)
        return text
    }

    /// The available bytes; nil if the client has closed.
    func readSome() -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        // Safe: the buffer lives through the call and its size is passed.
        let count = unsafe recv(descriptor, &buffer, buffer.count, 0)
        return count > 0 ? Array(buffer[..<count]) : nil
    }

    /// Sends all bytes, or those that the client accepts.
    func write(_ text: String) {
        write(text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) })
    }

    func write(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            // Safe: the slice lives through the call and its size is passed.
            let count = unsafe rest.withUnsafeBytes { buffer in
                unsafe send(descriptor, buffer.baseAddress, buffer.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    /// Waits until the client's system has all bytes that were written.
    func waitUntilReceived() {
        var left: Int32 = 1
        // Safe: ioctl writes one Int32, which lives through the call.
        while unsafe ioctl(descriptor, UInt(TIOCOUTQ), &left) == 0, left > 0 { usleep(1_000) }
    }

    /// Keeps the connection open until the client closes it.
    func waitForClose() {
        while readSome() != nil {}
        note("closed")
    }

    /// Makes the coming close a TCP reset.
    func resetOnClose() {
        var option = linger(l_onoff: 1, l_linger: 0)
        // Safe: the option lives through the call and its size is passed.
        unsafe setsockopt(
            descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    }
}

extension [UInt8] {
    /// The offset behind the empty line that ends a head.
    fileprivate var headEnd: Int? {
        let mark = Array("\r\n\r\n".utf8)
        guard count >= mark.count else { return nil }
        return (mark.count...count).first { self[($0 - mark.count)..<$0].elementsEqual(mark) }
    }
}

extension String {
    init(latin1 bytes: [UInt8]) {
        var scalars = String.UnicodeScalarView()
        scalars.append(contentsOf: bytes.map { Unicode.Scalar($0) })
        self = String(scalars)
    }

    /// The head's lines.
    var headLines: [Substring] {
        var lines: [Substring] = []
        for line in split(separator: "\r\n", omittingEmptySubsequences: false) {
            if line.isEmpty { break }
            lines.append(line)
        }
        return lines
    }

    /// What follows the head.
    var bodyText: String {
        guard let end = firstRange(of: "\r\n\r\n")?.upperBound else { return "" }
        return String(self[end...])
    }

    /// The value of a head field; nil when it is missing.
    func field(_ name: String) -> String? {
        let prefix = name.lowercased() + ":"
        guard let line = headLines.first(where: { $0.lowercased().hasPrefix(prefix) }) else {
            return nil
        }
        return line.dropFirst(prefix.count).drop { $0 == " " }.description
    }

    /// The head's `Content-Length`, 0 when there is none.
    fileprivate var contentLength: Int {
        field("content-length").flatMap { Int($0) } ?? 0
    }
}
