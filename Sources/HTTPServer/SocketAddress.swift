import Glibc

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

    /// The local end of a socket.
    init?(localEndOf descriptor: CInt) {
        unsafe self.init { pointer, byteCount in
            unsafe getsockname(descriptor, pointer, &byteCount)
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
