public import HTTPMessage

/// An ``HTTPTransport`` over libcurl, with one thread and connections that are reused.
///
/// - HTTP/2 where a TLS backend speaks it, HTTP/1.1 otherwise; TLS is always verified.
/// - `head.path` goes out as it stands, byte for byte. `head.authority` is a host with an optional
///   port. `Host`, `Content-Length`, the fields of the connection (`Connection`, `TE`, `Upgrade`, …),
///   `Expect` and `Accept-Encoding` are written by this module: such fields of a request are not sent on.
///   Nothing is added but those and, where missing, `User-Agent`.
/// - Encoded answers are decoded, and then have no `Content-Encoding` and `Content-Length`; a request
///   with `Range` asks for none and gets its answer untouched.
/// - Redirects are returned, not followed. No cookies, no stored credentials, no proxy that was not
///   configured.
/// - A request other than GET, HEAD and OPTIONS is written to a connection at most once.
public final class CurlTransport: HTTPTransport {
    private let commands: CommandQueue
    private let configuration: ClientConfiguration

    /// Starts the thread.
    /// - Throws: ``TransportError`` with cause `invalid` when the system has no more threads or sockets.
    public init(_ configuration: ClientConfiguration = .init()) throws(TransportError) {
        guard let multi = MultiHandle(configuration) else {
            throw .invalid("libcurl could not be started.")
        }
        self.configuration = configuration
        commands = CommandQueue(multi)
        let start = LoopStart(multi: multi, commands: commands, configuration: configuration)
        guard CurlLoop.spawn(start) else {
            multi.free()
            throw .invalid("The system gave no thread for the client.")
        }
    }

    deinit {
        commands.close()
    }

    /// Sends `request` and waits, without blocking a thread, for the whole response.
    /// - Returns: the backend's answer, whatever its status.
    /// - Throws: ``TransportError``. Its reach is ``TransportError/Reach/notSent`` exactly when the request
    ///   was written to no connection. The cause is `cancelled` when the task is cancelled, and when the
    ///   client is stopped.
    public func send(_ request: Request) async throws(TransportError) -> Response {
        let plan = try RequestPlan(request, configuration: configuration)
        return try await send(plan, upload: request.bodyStream, isStreamed: false)
    }

    /// Sends `request` and returns its answer's head with a stream for the body. The time limit of
    /// ``send(_:)`` does not hold; a transfer that moves no byte for ``Limits/streamStallSeconds``
    /// is given up. `Accept-Encoding` goes out as it stands, and the body is left encoded.
    public func open(_ request: Request) async throws(TransportError) -> Response {
        let plan = try RequestPlan(request, configuration: configuration, isRaw: true)
        return try await send(plan, upload: request.bodyStream, isStreamed: true)
    }

    private func send(
        _ plan: RequestPlan, upload: ByteStream?, isStreamed: Bool
    ) async throws(TransportError) -> Response {
        let id = commands.nextID()
        let deadline = ContinuousClock.now + configuration.requestTimeout
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                let call = PendingCall(
                    id: id, plan: plan, upload: upload, isStreamed: isStreamed,
                    deadline: deadline, waiter: waiter)
                guard !Task.isCancelled else { return call.fail(.cancelled, "Cancelled.") }
                guard commands.post(.send(call)) else {
                    return call.fail(.cancelled, "The client was stopped.")
                }
                // A cancellation between the two checks above posted its command before the call.
                if Task.isCancelled { _ = commands.post(.cancel(id: id)) }
            }
        } onCancel: {
            _ = commands.post(.cancel(id: id))
        }
        return try result.get()
    }

    /// Ends the thread and blocks until it has ended. All calls fail with cause `cancelled`. A second call
    /// only waits.
    @available(*, noasync, message: "blocks the thread; await the asynchronous stop() instead")
    public func stop() {
        commands.close()
        commands.thread.wait()
    }

    /// Ends the thread and waits, without blocking a thread, until it has ended.
    public func stop() async {
        commands.close()
        await commands.thread.ended()
    }
}
