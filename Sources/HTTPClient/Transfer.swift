import CCurl
import HTTPMessage

/// One request in libcurl's hands: an easy handle with what it borrows and what it reports to.
///
/// Confined to the loop's thread. libcurl holds unretained pointers to this object, so the loop keeps
/// it until ``close()``, which comes after the handle has left the multi handle.
@safe final class Transfer {
    let id: UInt64
    let host: String
    let waiter: CheckedContinuation<Result<Response, TransportError>, Never>
    /// Owned; freed by ``close()``.
    let easy: UnsafeMutableRawPointer
    var gate: SendGate
    var collector: ResponseCollector

    private let decodes: Bool
    /// Owned; borrowed by `easy`; freed by ``close()``.
    private let errorBuffer: UnsafeMutablePointer<CChar>
    /// Owned; borrowed by `easy`; freed by ``close()``.
    private var fieldList: UnsafeMutablePointer<curl_slist>?
    private var isClosed = false

    /// Makes a handle that is ready to be added to the multi handle.
    /// - Throws: ``TransportError``, with nothing sent, where libcurl refuses an option.
    init(_ ticket: Ticket, configuration: ClientConfiguration) throws(TransportError) {
        guard let easy = unsafe curl_easy_init() else {
            throw .invalid("libcurl has no memory for another request.")
        }
        id = ticket.id
        host = ticket.plan.url
        waiter = ticket.waiter
        unsafe self.easy = easy
        gate = SendGate(isSafe: ticket.plan.isSafe)
        collector = ResponseCollector(bodyLimitBytes: configuration.responseBodyLimitBytes)
        decodes = ticket.plan.decodes && ticket.plan.method != "HEAD"
        unsafe errorBuffer = .allocate(capacity: Int(CURL_ERROR_SIZE))
        unsafe errorBuffer.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        do {
            try setBase(configuration)
            try setTimes(configuration, left: ticket.deadline - .now)
            try setSecurity(configuration)
            try setRequest(ticket.plan)
            try setCallbacks()
        } catch {
            close()
            throw error
        }
    }

    deinit {
        precondition(isClosed, "a transfer is closed before it is let go")
    }

    /// Frees what the transfer owns. The handle must have left the multi handle. Idempotent.
    func close() {
        guard !isClosed else { return }
        isClosed = true
        unsafe curl_easy_cleanup(easy)
        unsafe curl_slist_free_all(fieldList)
        unsafe errorBuffer.deallocate()
    }

    /// How it ended, by libcurl's verdict.
    func end(_ code: CURLcode) -> TransferEnd {
        let detail = unsafe String(cString: errorBuffer)
        let message = detail.isEmpty ? unsafe String(cString: curl_easy_strerror(code)) : detail
        return TransferEnd(
            code: code, message: message, gate: gate, collector: collector, decoded: decodes)
    }

    /// A failure that this side decided on.
    func failure(
        _ cause: TransportError.Cause, _ message: String
    ) -> Result<Response, TransportError> {
        .failure(TransportError(reach: gate.reach, cause: cause, message: message))
    }

    /// Adds a line to the list of fields.
    func append(fieldLine line: [UInt8]) throws(TransportError) {
        // Safe: libcurl copies the text, which ends with the NUL added here.
        let longer = unsafe (line + [0]).withUnsafeBytes { bytes in
            unsafe curl_slist_append(
                fieldList, bytes.baseAddress?.assumingMemoryBound(to: CChar.self))
        }
        guard let longer = unsafe longer else { throw .invalid("libcurl has no memory left.") }
        unsafe fieldList = longer
    }

    /// Lends the list of fields and the error buffer to the handle.
    func lendMemory() throws(TransportError) {
        try check(unsafe understudy_easy_set_fields(easy, fieldList))
        try check(unsafe understudy_easy_set_error_buffer(easy, errorBuffer))
    }
}
