private import CMicroHTTPD

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
