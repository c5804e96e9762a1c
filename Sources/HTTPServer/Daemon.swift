private import CMicroHTTPD
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
                UInt32(workers), UInt32(limits.connections * workers),
                0, limits.memoryBytes,
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
