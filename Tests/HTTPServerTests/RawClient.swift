import Glibc

/// A TCP client that sends exactly the bytes it is given.
final class RawClient {
    private let descriptor: CInt
    private var buffered: ArraySlice<UInt8> = []
    private var isTimedOut = false

    /// An answer as it was sent.
    struct Answer: Equatable, Sendable {
        var status: Int
        /// The header lines in order, as they came.
        var head: [String]
        var body: [UInt8]
        var text: String { String(decoding: body, as: UTF8.self) }
        func value(_ name: String) -> String? {
            head.first { $0.lowercased().hasPrefix(name.lowercased() + ":") }
                .map { String($0.dropFirst(name.count + 1).drop { $0 == " " }) }
        }
    }

    init(port: UInt16, ipv6: Bool = false) {
        var result: CInt
        if ipv6 {
            descriptor = socket(AF_INET6, CInt(SOCK_STREAM.rawValue), 0)
            var address = sockaddr_in6()
            address.sin6_family = sa_family_t(AF_INET6)
            address.sin6_port = port.bigEndian
            address.sin6_addr = in6addr_loopback
            result = unsafe withUnsafePointer(to: address) {
                unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in6>.size))
                }
            }
        } else {
            descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            result = unsafe withUnsafePointer(to: address) {
                unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
        }
        var limit = timeval(tv_sec: 10, tv_usec: 0)
        result |= unsafe setsockopt(
            descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        precondition(result == 0, "connect")
    }

    /// Connects to a Unix socket; nil if no process listens on it.
    init?(unix path: String) {
        descriptor = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) {
            unsafe $0.copyBytes(from: Array(path.utf8))
        }
        let result = unsafe withUnsafePointer(to: address) {
            unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        if result != 0 { return nil }
    }

    deinit { _ = close(descriptor) }

    /// Sends all bytes; false when the server does not take them any more.
    @discardableResult
    func send(_ bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let sent = unsafe rest.withUnsafeBytes { buffer in
                unsafe Glibc.send(
                    descriptor, buffer.baseAddress, buffer.count, CInt(MSG_NOSIGNAL))
            }
            if sent <= 0 { return false }
            rest = rest.dropFirst(sent)
        }
        return true
    }

    @discardableResult
    func send(_ text: String) -> Bool { send(Array(text.utf8)) }

    /// Closes the sending side; the client still reads.
    func closeSending() { _ = shutdown(descriptor, CInt(SHUT_WR)) }

    /// Reads more bytes if all are used; false at the end of the connection, after a reset or ten seconds.
    private func fill() -> Bool {
        if !buffered.isEmpty { return true }
        var bytes = [UInt8](repeating: 0, count: 64 * 1024)
        let count = unsafe recv(descriptor, &bytes, bytes.count, 0)
        isTimedOut = count < 0 && errno == EAGAIN
        if count > 0 { buffered = bytes[..<count] }
        return count > 0
    }

    /// One line without its CRLF; nil when the connection ends first.
    func line() -> String? {
        var bytes: [UInt8] = []
        while fill() {
            let next = buffered.removeFirst()
            if next == 0x0A { return String(decoding: bytes.dropLast(), as: UTF8.self) }
            bytes.append(next)
        }
        return nil
    }

    /// Exactly `count` bytes; nil when the connection ends first.
    func bytes(_ count: Int) -> [UInt8]? {
        var result: [UInt8] = []
        while result.count < count {
            guard fill() else { return nil }
            let part = buffered.prefix(count - result.count)
            result += part
            buffered = buffered.dropFirst(part.count)
        }
        return result
    }

    /// One chunk of a chunked body; empty at its end, nil when the connection was cut.
    func chunk() -> [UInt8]? {
        guard let size = line().flatMap({ Int($0, radix: 16) }), let data = bytes(size),
            bytes(2) == [0x0D, 0x0A]
        else { return nil }
        return data
    }

    /// The status line and the head.
    func head() -> Answer? {
        guard let status = line(), status.hasPrefix("HTTP/1.1 "),
            let code = Int(status.dropFirst(9).prefix(3))
        else { return nil }
        var head: [String] = []
        while let next = line() {
            if next.isEmpty { return Answer(status: code, head: head, body: []) }
            head.append(next)
        }
        return nil
    }

    /// A whole answer; nil when the connection ends before it is complete.
    func answer(toHead: Bool = false) -> Answer? {
        guard var answer = head() else { return nil }
        if toHead || answer.status == 204 || answer.status == 304 { return answer }
        if answer.value("Transfer-Encoding") == "chunked" {
            while let chunk = chunk() {
                if chunk.isEmpty { return answer }
                answer.body += chunk
            }
            return nil
        }
        guard let body = bytes(answer.value("Content-Length").flatMap { Int($0) } ?? 0) else {
            return nil
        }
        answer.body = body
        return answer
    }

    /// Whether the server closed the connection, having sent nothing more.
    func isClosed() -> Bool { !fill() && !isTimedOut }
}
