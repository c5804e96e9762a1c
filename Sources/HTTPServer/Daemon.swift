import CMicroHTTPD
import Glibc

/// libmicrohttpd's daemon, from start to stop.
///
/// `@unchecked Sendable`: `MHD_add_connection` locks inside libmicrohttpd, and the server calls `stop()`
/// once, after the only thread that adds connections has ended. So the pointer is valid in every call.
@safe
struct Daemon: @unchecked Sendable {
    private let pointer: OpaquePointer
    private let core: Unmanaged<ServerCore>

    /// Starts the worker threads; nil when the system has no resources for them, or the certificate and its
    /// key are not a pair that GnuTLS can read.
    ///
    /// The texts of the certificate live until the call returns: libmicrohttpd gives them to GnuTLS, which
    /// copies them, and reads them nowhere else.
    init?(core: ServerCore, workers: Int, certificate: ServerCertificate?) {
        // Retained here, released in `stop()`: the callbacks use it until the threads are joined.
        let retained = unsafe Unmanaged.passRetained(core)
        let limits = core.limits
        // The reaper keeps the limit of connections; each worker may hold all of them, of one address too.
        let start: (UnsafePointer<CChar>?, UnsafePointer<CChar>?) -> OpaquePointer? = {
            chain, key in
            unsafe understudy_start_daemon(
                UInt32(workers), UInt32((limits.connections + limits.eventStreams) * workers), 0,
                limits.memoryBytes,
                UInt32(limits.idleSeconds), accessCallback, completedCallback,
                connectionCallback, targetCallback, chain, key, retained.toOpaque())
        }
        let started =
            if let certificate {
                unsafe certificate.chain.withCString { chain in
                    unsafe certificate.key.withCString { key in unsafe start(chain, key) }
                }
            } else {
                unsafe start(nil, nil)
            }
        guard let started = unsafe started else {
            unsafe retained.release()
            return nil
        }
        unsafe pointer = started
        unsafe self.core = retained
    }

    /// Gives an accepted socket to a worker; false when libmicrohttpd refused and closed it. libmicrohttpd
    /// copies the address.
    func add(_ descriptor: CInt, _ peer: SocketAddress) -> Bool {
        unsafe peer.withPointer { address, size in
            unsafe MHD_add_connection(pointer, descriptor, address, size) == .YES
        }
    }

    /// Closes all connections and joins the threads. No connection may be suspended.
    @available(*, noasync)
    func stop() {
        unsafe MHD_stop_daemon(pointer)
        unsafe core.release()
    }
}

/// The library that this module stands on.
public enum ServerLibrary {
    /// The version of libmicrohttpd that was loaded.
    public static var version: String {
        // The text is a constant of the library.
        guard let text = unsafe MHD_get_version() else { return "unknown" }
        return unsafe String(cString: text)
    }
}

/// libmicrohttpd's connection, with the calls that may be made from any thread.
///
/// `@unchecked Sendable`: `suspend` and `resume` lock inside libmicrohttpd. Their callers (``ReplyPause``,
/// ``StreamFeed``, ``UploadBackpressure``) call them only while the connection cannot be freed: on its own
/// thread, or while it is suspended. The descriptor is a number.
@safe
struct ConnectionHandle: @unchecked Sendable {
    private let pointer: OpaquePointer
    private let descriptor: CInt

    init(_ pointer: OpaquePointer) {
        unsafe self.pointer = pointer
        descriptor = unsafe understudy_socket(pointer)
    }

    /// Whether the client has closed its side. The socket must be open.
    var hasPeerClosed: Bool { ConnectionRecord.hasPeerClosed(descriptor) }

    /// Takes the connection out of libmicrohttpd's loop. Only on the connection's own thread.
    func suspend() { unsafe MHD_suspend_connection(pointer) }

    /// Puts a suspended connection back. Exactly once for each suspension, from any thread.
    func resume() { unsafe MHD_resume_connection(pointer) }
}
