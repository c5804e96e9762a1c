import Glibc

/// The service manager that started this process (systemd), by the variables that it has set. It gets the
/// state of the service, and may pass listening sockets.
package struct ServiceManager: Sendable {
    private let socketName: String?
    /// Microseconds that the manager waits for `WATCHDOG=1` before it restarts the service; nil if it does
    /// not.
    package let watchdogMicroseconds: UInt64?
    /// Sockets that listen already, in the order of the socket unit.
    package let sockets: [CInt]

    /// The first descriptor that the manager passes (sd_listen_fds).
    private static let firstSocket: CInt = 3

    /// Reads the variables. Those for another process are ignored.
    package init(process: Int32 = getpid(), environment: (String) -> String?) {
        socketName = environment("NOTIFY_SOCKET").flatMap { $0.isEmpty ? nil : $0 }
        let isWatched = environment("WATCHDOG_PID").map { $0 == String(process) } ?? true
        watchdogMicroseconds =
            isWatched ? environment("WATCHDOG_USEC").flatMap(UInt64.init) : nil
        let count = environment("LISTEN_FDS").flatMap(CInt.init) ?? 0
        let areForThisProcess = environment("LISTEN_PID") == String(process)
        sockets =
            areForThisProcess && count > 0
            ? Array(Self.firstSocket..<(Self.firstSocket + count)) : []
    }

    /// Sends assignments, such as `READY=1`, to the manager. Does nothing without a manager; errors are
    /// ignored.
    package func notify(_ assignments: String...) {
        guard let socketName, socketName.hasPrefix("/") || socketName.hasPrefix("@") else { return }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var name = Array(socketName.utf8)
        // A name with @ is in the abstract namespace, in which names begin with a zero byte.
        if name.first == UInt8(ascii: "@") { name[0] = 0 }
        let begin = MemoryLayout.offset(of: \sockaddr_un.sun_path) ?? 2
        guard begin + name.count < MemoryLayout<sockaddr_un>.size else { return }
        // By the guard above, the name fits in the struct after the family.
        unsafe withUnsafeMutableBytes(of: &address) { bytes in
            for (index, byte) in name.enumerated() { unsafe bytes[begin + index] = byte }
        }
        let descriptor = socket(
            AF_UNIX, CInt(SOCK_DGRAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        let message = Array(assignments.joined(separator: "\n").utf8)
        let size = socklen_t(begin + name.count)
        // sendto reads the message and the address, both of which live until it returns.
        unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { target in
                _ = unsafe sendto(
                    descriptor, message, message.count, CInt(MSG_NOSIGNAL), target, size)
            }
        }
    }

    /// Microseconds of the monotonic clock, which the manager requires with `RELOADING=1`.
    package static var monotonicMicroseconds: UInt64 {
        var time = timespec()
        // clock_gettime fills the struct that it is given.
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000 + UInt64(time.tv_nsec) / 1000
    }
}
