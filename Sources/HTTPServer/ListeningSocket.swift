// For the kinds of sockets, which either module may own.
import CMicroHTTPD
import Glibc

/// A socket that listens, owned until ``close()``.
///
/// `unsafe`: the C functions get paths, structs and addresses for the call alone, with their true sizes, and
/// keep none of them. `strerror`'s text is copied at once.
struct ListeningSocket: Sendable {
    let descriptor: CInt
    /// Where it listens, with the port that the system chose; nil for a Unix socket.
    let bound: ListenAddress?
    /// The file of a Unix socket, removed by ``close()``.
    private let path: String?

    /// Opens, binds and listens.
    init(_ address: ListenAddress, backlog: Int) throws(StartFailure) {
        guard let target = SocketAddress(host: address.host, port: address.port) else {
            throw .invalidAddress(address.description)
        }
        let kind =
            CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue)
            | CInt(SOCK_NONBLOCK.rawValue)
        let descriptor = socket(target.family, kind, 0)
        guard descriptor >= 0 else { throw Self.failure("socket", at: address) }
        Self.set(descriptor, SOL_SOCKET, SO_REUSEADDR)
        if target.family == AF_INET6 { Self.set(descriptor, CInt(IPPROTO_IPV6), IPV6_V6ONLY) }
        let isBound = unsafe target.withPointer { unsafe bind(descriptor, $0, $1) } == 0
        guard isBound, listen(descriptor, CInt(backlog)) == 0 else {
            let failure = Self.failure(isBound ? "listen" : "bind", at: address)
            _ = Glibc.close(descriptor)
            throw failure
        }
        self.descriptor = descriptor
        bound = Self.bound(descriptor) ?? address
        path = nil
    }

    /// Listens on a Unix socket that only its owner may connect to.
    ///
    /// 1. Remove a socket at `path` that refuses connections; fail for anything else there.
    /// 2. Bind, and make the file its owner's alone before another user can connect.
    /// 3. Listen.
    init(unix path: String, backlog: Int) throws(StartFailure) {
        guard let target = SocketAddress(unix: path) else { throw .invalidPath(path) }
        let kind =
            CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue)
            | CInt(SOCK_NONBLOCK.rawValue)
        try Self.removeLeftover(path, target, kind)
        let descriptor = socket(AF_UNIX, kind, 0)
        guard descriptor >= 0 else { throw Self.failure("socket", path) }
        guard unsafe target.withPointer({ unsafe bind(descriptor, $0, $1) }) == 0,
            unsafe chmod(path, 0o600) == 0, listen(descriptor, CInt(backlog)) == 0
        else {
            let failure = Self.failure("bind", path)
            _ = Glibc.close(descriptor)
            throw failure
        }
        self.descriptor = descriptor
        self.path = path
        bound = nil
    }

    private static func removeLeftover(
        _ path: String, _ target: SocketAddress, _ kind: CInt
    ) throws(StartFailure) {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { return }
        guard status.st_mode & S_IFMT == S_IFSOCK else { throw .invalidPath(path) }
        let probe = socket(AF_UNIX, kind, 0)
        guard probe >= 0 else { throw Self.failure("socket", path) }
        defer { _ = Glibc.close(probe) }
        guard unsafe target.withPointer({ unsafe connect(probe, $0, $1) }) != 0,
            errno == ECONNREFUSED
        else { throw .addressInUse(path) }
        guard unsafe unlink(path) == 0 else { throw Self.failure("unlink", path) }
    }

    /// Takes over a socket that listens already.
    init(adopting descriptor: CInt) throws(StartFailure) {
        var accepts: CInt = 0
        var size = socklen_t(MemoryLayout<CInt>.size)
        guard unsafe getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &accepts, &size) == 0,
            accepts != 0, let bound = Self.bound(descriptor)
        else { throw .notListening(descriptor: descriptor) }
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        self.descriptor = descriptor
        self.bound = bound
        path = nil
    }

    /// A copy of the descriptor; nil when the system has none left.
    var copied: CInt? {
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        return copy < 0 ? nil : copy
    }

    /// Closes the socket. A copy that a socket manager keeps goes on listening.
    func close() {
        if let path { _ = unsafe unlink(path) }
        _ = Glibc.close(descriptor)
    }

    private static func bound(_ descriptor: CInt) -> ListenAddress? {
        guard let text = SocketAddress(localEndOf: descriptor)?.text else { return nil }
        return try? ListenAddress(host: text.host, port: text.port)
    }

    private static func set(_ descriptor: CInt, _ level: CInt, _ option: CInt) {
        var on: CInt = 1
        _ = unsafe setsockopt(
            descriptor, level, option, &on, socklen_t(MemoryLayout<CInt>.size))
    }

    private static func failure(_ operation: String, at address: ListenAddress) -> StartFailure {
        failure(operation, address.description)
    }

    private static func failure(_ operation: String, _ address: String) -> StartFailure {
        switch errno {
        case EADDRINUSE: .addressInUse(address)
        case EACCES, EPERM: .permissionDenied(address)
        case EADDRNOTAVAIL, EAFNOSUPPORT: .addressNotAvailable(address)
        case ENOENT, ENOTDIR: .invalidPath(address)
        default: .system(operation: operation, reason: unsafe String(cString: strerror(errno)))
        }
    }
}

/// The address of a socket in the kernel's form: IPv4, IPv6 or Unix.
///
/// `unsafe`: `sockaddr_storage` is as large as each form and aligned for each, so a form can be stored in it
/// and read from it. The family is read before a form is loaded. C functions get the storage for the call
/// alone, with its size.
struct SocketAddress: Sendable {
    private var storage = sockaddr_storage()
    private(set) var byteCount = socklen_t(MemoryLayout<sockaddr_storage>.size)

    /// Reads a numeric address; nil when it is neither IPv4 nor IPv6.
    init?(host: String, port: UInt16) {
        var four = sockaddr_in()
        var six = sockaddr_in6()
        if unsafe inet_pton(AF_INET, host, &four.sin_addr) == 1 {
            four.sin_family = sa_family_t(AF_INET)
            four.sin_port = port.bigEndian
            unsafe withUnsafeMutableBytes(of: &storage) { bytes in
                unsafe bytes.storeBytes(of: four, as: sockaddr_in.self)
            }
            byteCount = socklen_t(MemoryLayout<sockaddr_in>.size)
        } else if unsafe inet_pton(AF_INET6, host, &six.sin6_addr) == 1 {
            six.sin6_family = sa_family_t(AF_INET6)
            six.sin6_port = port.bigEndian
            unsafe withUnsafeMutableBytes(of: &storage) { bytes in
                unsafe bytes.storeBytes(of: six, as: sockaddr_in6.self)
            }
            byteCount = socklen_t(MemoryLayout<sockaddr_in6>.size)
        } else {
            return nil
        }
    }

    /// The address of a Unix socket; nil when the path is empty or does not fit.
    init?(unix path: String) {
        var local = sockaddr_un()
        local.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        let room = MemoryLayout.size(ofValue: local.sun_path)
        guard !bytes.isEmpty, bytes.count < room, !bytes.contains(0) else { return nil }
        unsafe withUnsafeMutableBytes(of: &local.sun_path) { unsafe $0.copyBytes(from: bytes) }
        unsafe withUnsafeMutableBytes(of: &storage) { storage in
            unsafe storage.storeBytes(of: local, as: sockaddr_un.self)
        }
        byteCount = socklen_t(MemoryLayout<sockaddr_un>.size)
    }

    /// What `fill` (getsockname, accept4) writes; nil when it returns less than 0.
    init?(filledBy fill: (UnsafeMutablePointer<sockaddr>, inout socklen_t) -> CInt) {
        var byteCount = byteCount
        let result = unsafe withUnsafeMutablePointer(to: &storage) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { rebound in
                unsafe fill(rebound, &byteCount)
            }
        }
        guard result >= 0 else { return nil }
        self.byteCount = byteCount
    }

    init?(localEndOf descriptor: CInt) {
        unsafe self.init { pointer, byteCount in
            unsafe getsockname(descriptor, pointer, &byteCount)
        }
    }

    /// The far end of a connected socket.
    init?(farEndOf descriptor: CInt) {
        unsafe self.init { pointer, byteCount in
            unsafe getpeername(descriptor, pointer, &byteCount)
        }
    }

    /// AF_INET, AF_INET6 or another family of a socket that was handed over.
    var family: CInt { CInt(storage.ss_family) }

    /// Lends the address to a system call.
    func withPointer<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        unsafe withUnsafePointer(to: storage) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { rebound in
                unsafe body(rebound, byteCount)
            }
        }
    }

    /// The numeric address (empty for another family) and the port.
    var text: (host: String, port: UInt16) {
        unsafe withUnsafeBytes(of: storage) { bytes in
            switch family {
            case AF_INET:
                let address = unsafe bytes.loadUnaligned(as: sockaddr_in.self)
                let host = unsafe withUnsafeBytes(of: address.sin_addr) {
                    unsafe Self.text(AF_INET, $0)
                }
                return (host, UInt16(bigEndian: address.sin_port))
            case AF_INET6:
                let address = unsafe bytes.loadUnaligned(as: sockaddr_in6.self)
                let host = unsafe withUnsafeBytes(of: address.sin6_addr) {
                    unsafe Self.text(AF_INET6, $0)
                }
                return (host, UInt16(bigEndian: address.sin6_port))
            default:
                return ("", 0)
            }
        }
    }

    private static func text(_ family: CInt, _ address: UnsafeRawBufferPointer) -> String {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        guard let bytes = address.baseAddress,
            unsafe inet_ntop(family, bytes, &text, socklen_t(text.count)) != nil
        else { return "" }
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
