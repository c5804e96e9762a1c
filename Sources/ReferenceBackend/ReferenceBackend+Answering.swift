public import HTTPMessage
import HTTPTypes
import Synchronization
import TablesProtocol

extension ReferenceBackend: HTTPHandler {
    /// Takes any head; the body is bounded.
    public func admit(_ request: Request) -> Admission {
        .accept(bodyLimitBytes: Limits.bodyBytes)
    }

    /// Answers a request on the server's own thread.
    public func handle(_ request: Request) -> Answer { .now(respond(to: request)) }

    /// Answers a request at once.
    public func respond(to request: Request) -> Response {
        let call = Call(request)
        control.withLock { $0.requests[call.method.rawValue, default: 0] += 1 }
        return serve(call)
    }
}
