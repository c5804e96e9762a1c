import CCurl

/// A libcurl multi handle.
///
/// `@unchecked Sendable` because only the loop's thread uses the pointer, with one exception:
/// ``wake()``, which libcurl allows from any thread and ``Mailbox`` calls under its lock, so never
/// after the loop has closed the mailbox and before it frees the handle.
@safe struct MultiHandle: @unchecked Sendable {
    /// Owned; freed by the loop's last act.
    let pointer: UnsafeMutableRawPointer

    /// Makes a handle with the bounds of `configuration`; nil when memory or descriptors are short.
    init?(_ configuration: ClientConfiguration) {
        curl_global_init(Int(CURL_GLOBAL_DEFAULT))
        guard let multi = unsafe curl_multi_init() else { return nil }
        unsafe pointer = multi
        let bounds: [(CURLMoption, Int)] = [
            (
                CURLMOPT_MAX_HOST_CONNECTIONS,
                configuration.maxConnectionsPerHost + configuration.maxStandingTransfers
            ),
            (CURLMOPT_MAXCONNECTS, Limits.idleConnections),
        ]
        for (option, value) in bounds {
            unsafe understudy_multi_set_long(multi, option, value)
        }
        guard wake() else {
            unsafe curl_multi_cleanup(multi)
            return nil
        }
    }

    /// Ends the loop's current or next sleep at once.
    @discardableResult
    func wake() -> Bool {
        unsafe curl_multi_wakeup(pointer) == CURLM_OK
    }

    /// Frees the handle. Only where no thread uses it, or by the last act of the one that did.
    func free() {
        unsafe curl_multi_cleanup(pointer)
    }
}
