import CMicroHTTPD
import Glibc
import HTTPMessage
import HTTPTypes

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

// libmicrohttpd's entry points. Each recovers its Swift object, converts the arguments and calls it.
//
// `unsafe`: `context` is the ServerCore that `Daemon` retains until its threads are joined. A request's
// pointer is the Exchange that `targetCallback` retains and `completedCallback` releases. A connection's
// pointer is the ConnectionRecord that `connectionCallback` retains and releases. Texts and bytes are valid
// for the call, with the length that is given or up to their NUL, and are copied.

/// `MHD_OPTION_URI_LOG_CALLBACK`: a request line was read; only this callback gets its raw target.
/// The exchange is retained here and released in `completedCallback`, which libmicrohttpd calls
/// for every request that this callback has seen.
func targetCallback(
    context: UnsafeMutableRawPointer?, target: UnsafePointer<CChar>?, connection: OpaquePointer?
) -> UnsafeMutableRawPointer? {
    guard let context = unsafe context else { return nil }
    let core = unsafe Unmanaged<ServerCore>.fromOpaque(context).takeUnretainedValue()
    core.exchanges.increment()
    unsafe connection.flatMap { unsafe record(of: $0) }?.requestBegan()
    let exchange = unsafe Exchange(
        core: core, target: target.flatMap { unsafe String(validatingCString: $0) },
        targetPlace: place(of: target))
    unsafe hideQuery(in: target)
    return unsafe Unmanaged.passRetained(exchange).toOpaque()
}

/// Ends a target behind its first `?`, after it was copied, so that libmicrohttpd parses no query pairs.
///
/// The list of pairs is never used, and each pair takes memory of the connection. When a target with many `&`
/// uses that up, libmicrohttpd 0.9.75 neither answers nor closes until the idle time is over.
///
/// Sound: the target stands in the connection's own buffer, which libmicrohttpd writes to itself and
/// cuts at the same `?` right after this call. A byte of the target, never its end, becomes the end.
private func hideQuery(in target: UnsafePointer<CChar>?) {
    guard let target = unsafe target, let mark = unsafe strchr(target, CInt(UInt8(ascii: "?"))),
        unsafe mark[1] != 0
    else { return }
    unsafe mark[1] = 0
}

/// `MHD_AccessHandlerCallback`: first call with the head, then with pieces of the body, then with
/// nothing; again with nothing after a suspension.
func accessCallback(
    context: UnsafeMutableRawPointer?, connection: OpaquePointer?, url: UnsafePointer<CChar>?,
    method: UnsafePointer<CChar>?, version: UnsafePointer<CChar>?, upload: UnsafePointer<CChar>?,
    uploadBytes: UnsafeMutablePointer<Int>?,
    request: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> MHD_Result {
    guard let connection = unsafe connection, let pointer = unsafe request?.pointee,
        let uploadBytes = unsafe uploadBytes
    else { return .NO }
    let exchange = unsafe Unmanaged<Exchange>.fromOpaque(pointer).takeUnretainedValue()
    let bytes = unsafe UnsafeRawBufferPointer(start: upload, count: uploadBytes.pointee)
    unsafe uploadBytes.pointee = 0
    let step = unsafe nextStep(exchange, connection, method, version, bytes)
    if case .keepPiece = step { unsafe uploadBytes.pointee = bytes.count }
    return unsafe ExchangeRunner(connection, exchange).perform(step) ? .YES : .NO
}

private func nextStep(
    _ exchange: Exchange, _ connection: OpaquePointer, _ method: UnsafePointer<CChar>?,
    _ version: UnsafePointer<CChar>?, _ bytes: UnsafeRawBufferPointer
) -> Exchange.Step {
    guard let record = unsafe record(of: connection) else {
        return .writeRaw(RefusalReason.unreadable.response)
    }
    guard case .head = exchange.phase else {
        guard unsafe bytes.isEmpty else {
            defer { record.holdsBody = exchange.heldBytes > 0 }
            return unsafe exchange.receive(bytes)
        }
        record.requestArrived()
        if unsafe MHD_get_connection_values_n(connection, .FOOTER_KIND, nil, nil) > 0 {
            exchange.hasTrailer = true
        }
        return exchange.complete()
    }
    let endpoint = record.connection(worker: exchange.core.workers.current)
    var parts = HeadParts(
        reader: RequestHeadReader(limits: exchange.core.limits),
        layout: unsafe HeadLayout(
            method: place(of: method), target: exchange.targetPlace, version: place(of: version)))
    _ = unsafe withUnsafeMutablePointer(to: &parts) { pointer in
        unsafe MHD_get_connection_values_n(connection, .HEADER_KIND, addField, pointer)
    }
    let target = parts.layout.isTargetWhole ? exchange.target : nil
    let isWhole = parts.layout.isWhole(headBytes: unsafe understudy_head_bytes(connection))
    let head = parts.reader.finish(
        method: unsafe method.map { unsafe String(cString: $0) } ?? "", target: target,
        version: unsafe version.map { unsafe String(cString: $0) } ?? "", isWhole: isWhole
    ).map { head in
        var head = head
        if exchange.core.isSecure { head.request.scheme = "https" }
        return head
    }
    return exchange.begin(head, connection: endpoint)
}

/// What the iterator of the fields fills.
private struct HeadParts {
    var reader: RequestHeadReader
    var layout: HeadLayout
}

/// Where a text that ends with a NUL byte stands.
private func place(of text: UnsafePointer<CChar>?) -> HeadLayout.Text {
    unsafe HeadLayout.Text(
        address: UInt(bitPattern: text), byteCount: text.map { unsafe strlen($0) } ?? 0)
}

/// `MHD_KeyValueIteratorN`: one header field, in wire order.
private func addField(
    context: UnsafeMutableRawPointer?, kind: MHD_ValueKind, name: UnsafePointer<CChar>?,
    nameBytes: Int, value: UnsafePointer<CChar>?, valueBytes: Int
) -> MHD_Result {
    guard let parts = unsafe context?.assumingMemoryBound(to: HeadParts.self) else { return .NO }
    unsafe parts.pointee.reader.add(
        name: UnsafeRawBufferPointer(start: name, count: nameBytes),
        value: UnsafeRawBufferPointer(start: value, count: value == nil ? 0 : valueBytes))
    unsafe parts.pointee.layout.add(
        name: HeadLayout.Text(address: UInt(bitPattern: name), byteCount: nameBytes),
        value: HeadLayout.Text(address: UInt(bitPattern: value), byteCount: valueBytes))
    return .YES
}

/// `MHD_RequestCompletedCallback`: releases what `targetCallback` retained.
func completedCallback(
    context: UnsafeMutableRawPointer?, connection: OpaquePointer?,
    request: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, code: MHD_RequestTerminationCode
) {
    guard let connection = unsafe connection, let pointer = unsafe request?.pointee else { return }
    let exchange = unsafe Unmanaged<Exchange>.fromOpaque(pointer).takeRetainedValue()
    unsafe request?.pointee = nil
    let isWhole = code == .REQUEST_TERMINATED_COMPLETED_OK
    let isSent = isWhole || code == .REQUEST_TERMINATED_WITH_ERROR
    unsafe record(of: connection)?.requestEnded()
    exchange.end(
        descriptor: unsafe understudy_socket(connection), isSent: isSent, isWhole: isWhole)
}

/// `MHD_NotifyConnectionCallback`: keeps a record of each connection, retained when it starts and
/// released when it closes.
func connectionCallback(
    context: UnsafeMutableRawPointer?, connection: OpaquePointer?,
    record: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, code: MHD_ConnectionNotificationCode
) {
    guard let context = unsafe context, let connection = unsafe connection else { return }
    let core = unsafe Unmanaged<ServerCore>.fromOpaque(context).takeUnretainedValue()
    if code == .CONNECTION_NOTIFY_STARTED {
        let made = unsafe ConnectionRecord(descriptor: understudy_socket(connection))
        core.reaper.opened(made)
        unsafe record?.pointee = Unmanaged.passRetained(made).toOpaque()
    } else if let kept = unsafe record?.pointee {
        let ended = unsafe Unmanaged<ConnectionRecord>.fromOpaque(kept).takeRetainedValue()
        // libmicrohttpd answers a request line that it cannot read without a callback. The bytes of an
        // encrypted connection may be those of its handshake.
        if !core.isSecure, ended.hasUnreadableRequest { core.refused(.unreadable) }
        core.reaper.closed(ended)
        unsafe record?.pointee = nil
    }
}

private func record(of connection: OpaquePointer) -> ConnectionRecord? {
    guard let kept = unsafe understudy_socket_context(connection) else { return nil }
    return unsafe Unmanaged<ConnectionRecord>.fromOpaque(kept).takeUnretainedValue()
}
