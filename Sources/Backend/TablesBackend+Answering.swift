import Dispatch
public import HTTPMessage
import HTTPTypes
import Synchronization
import TablesProtocol

extension TablesBackend: HTTPHandler {
    /// Takes any head; the body is bounded. The control paths are asked by a name of this machine
    /// alone: a web page may have led another one here.
    public func admit(_ request: Request) -> Admission {
        if options.servesFaults, Call(request).isControl, !isOwnName(request) {
            return .refuse(
                Response(
                    status: .misdirectedRequest, headerFields: [.contentType: "application/json"],
                    body: Array(
                        #"{"error":"Ask for this at 127.0.0.1 or localhost, with the port."}"#.utf8)
                ))
        }
        return .accept(bodyLimitBytes: bodyLimitBytes(request))
    }

    /// Answers a request on the server's own thread, or later when the faults have it wait.
    public func handle(_ request: Request) -> Answer {
        let call = Call(request)
        if let answer = controlAnswer(call) { return .now(answer) }
        let plan = plan(call)
        guard plan.latencyMilliseconds > 0 else { return .now(serve(call, plan.fault)) }
        return .later { reply in
            let time = DispatchTime.now() + .milliseconds(plan.latencyMilliseconds)
            DispatchQueue.global().asyncAfter(deadline: time) {
                reply(self.serve(call, plan.fault))
            }
        }
    }

    /// Answers a request at once, in process; latencies do not count.
    ///
    /// A dropped answer is a response whose stream has failed without a byte, a torn one a response
    /// whose stream fails half-way.
    @available(*, noasync)
    public func respond(to request: Request) -> Response {
        let call = Call(request)
        return controlAnswer(call) ?? serve(call, plan(call).fault)
    }

    private func isOwnName(_ request: Request) -> Bool {
        ["127.0.0.1", "localhost", "[::1]"].contains { name in
            request.head.authority == "\(name):\(request.connection.localPort)"
        }
    }

    private func plan(_ call: Call) -> FaultPlan {
        control.withLock { control in
            control.plan(call) { probability in random.happens(probability) }
        }
    }
}
