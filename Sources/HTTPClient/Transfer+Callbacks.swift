import CCurl
import HTTPMessage

extension Transfer {
    /// Sets libcurl's callbacks. The context is unretained: ``CurlLoop`` keeps this transfer until its
    /// handle has left the multi handle (see ``Transfer``).
    func setCallbacks() throws(TransportError) {
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        try check(unsafe understudy_easy_set_owner(easy, context))
        try check(unsafe understudy_easy_before_request(easy, curlWillSend, context))
        try check(unsafe understudy_easy_on_head(easy, curlReadHead, context))
        try check(unsafe understudy_easy_on_body(easy, curlReadBody, context))
        try check(unsafe understudy_easy_on_upload(easy, curlWriteBody, context))
    }

    /// The transfer that a handle belongs to.
    static func owner(of easy: UnsafeMutableRawPointer?) -> Transfer? {
        var context: UnsafeMutableRawPointer?
        guard unsafe understudy_easy_get_owner(easy, &context) == CURLE_OK else { return nil }
        return unsafe transfer(context)
    }
}

/// Safe: every context given to libcurl is a Transfer that ``CurlLoop`` keeps (see ``Transfer``).
private func transfer(_ context: UnsafeMutableRawPointer?) -> Transfer? {
    guard let context = unsafe context else { return nil }
    return unsafe Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
}

/// `CURLOPT_PREREQFUNCTION`: a connection is ready. Of its addresses only the local port is used.
private func curlWillSend(
    _ context: UnsafeMutableRawPointer?, _: UnsafeMutablePointer<CChar>?,
    _: UnsafeMutablePointer<CChar>?, _: Int32, _ localPort: Int32
) -> Int32 {
    guard let transfer = unsafe transfer(context), transfer.admit(localPort: localPort) else {
        return CURL_PREREQFUNC_ABORT
    }
    return CURL_PREREQFUNC_OK
}

/// `CURLOPT_HEADERFUNCTION`: one line of a response head. A result other than its size ends the transfer.
private func curlReadHead(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int,
    _ context: UnsafeMutableRawPointer?
) -> Int {
    guard let transfer = unsafe transfer(context) else { return 0 }
    // Safe: libcurl lends `size * count` bytes (size is 1) for the time of this call; copied here.
    let line = unsafe Array(UnsafeRawBufferPointer(start: bytes, count: size * count))
    return transfer.collector.take(headLine: line) == .taken ? size * count : 0
}

/// `CURLOPT_READFUNCTION`: fills the buffer with a piece of the request body.
private func curlWriteBody(
    _ buffer: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int,
    _ context: UnsafeMutableRawPointer?
) -> Int {
    guard let transfer = unsafe transfer(context), let buffer = unsafe buffer else {
        return Int(CURL_READFUNC_ABORT)
    }
    switch transfer.nextPiece(maxBytes: size * count) {
    case .bytes(let bytes):
        // Safe: libcurl lends `size * count` bytes for the time of this call; a piece has no more.
        unsafe UnsafeMutableRawBufferPointer(start: buffer, count: size * count)
            .copyBytes(from: bytes)
        return bytes.count
    case .wait: return Int(CURL_READFUNC_PAUSE)
    case .end: return 0
    case .failed: return Int(CURL_READFUNC_ABORT)
    }
}

/// `CURLOPT_WRITEFUNCTION`: one decoded piece of a response body.
private func curlReadBody(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int,
    _ context: UnsafeMutableRawPointer?
) -> Int {
    guard let transfer = unsafe transfer(context) else { return 0 }
    // Safe: libcurl lends `size * count` bytes (size is 1) for the time of this call; copied in take.
    let piece = unsafe UnsafeRawBufferPointer(start: bytes, count: size * count)
    switch unsafe transfer.take(body: piece) {
    case .taken: return size * count
    case .refused: return 0
    // libcurl keeps the piece and calls again with it.
    case .full:
        transfer.pauseUntilWritable()
        return Int(CURL_WRITEFUNC_PAUSE)
    }
}
