private import CMicroHTTPD

/// libmicrohttpd's connection, as far as it may be used from any thread.
///
/// `@unchecked Sendable` because the two calls made on it lock inside libmicrohttpd, and the pauses
/// that hold it make them only while the connection cannot be freed: on its own thread, or while it
/// is suspended.
@safe
struct ConnectionHandle: @unchecked Sendable {
    private let pointer: OpaquePointer
    private let descriptor: CInt

    init(_ pointer: OpaquePointer) {
        unsafe self.pointer = pointer
        descriptor = unsafe understudy_socket(pointer)
    }

    /// Whether the client has closed its side. The socket must be open.
    var hasClientLeft: Bool { ConnectionRecord.hasClientLeft(descriptor) }

    /// Takes the connection out of libmicrohttpd's loop. Only on the connection's own thread.
    func suspend() { unsafe MHD_suspend_connection(pointer) }

    /// Puts a suspended connection back. Exactly once for each suspension, from any thread.
    func resume() { unsafe MHD_resume_connection(pointer) }
}
