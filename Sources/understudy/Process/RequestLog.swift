import HTTPServer
import HTTPTypes
import Logging
import Proxy

/// A line of the log for each request that is over, at the level `debug`. While the log says less,
/// nothing is collected and no line is made.
struct RequestLog: RequestObserver {
    let log: Logger

    /// Whether the log says so much.
    var isWatching: Bool { log.logLevel <= .debug }

    /// Writes the line. What libmicrohttpd could not read is no request: it is counted as refused.
    func ended(_ request: EndedRequest) {
        guard request.head != nil || request.status != nil else { return }
        log.debug("request ended", metadata: Self.fields(request))
    }

    /// What the line says.
    static func fields(_ request: EndedRequest) -> Logger.Metadata {
        var fields: Logger.Metadata = [
            "milliseconds": "\(milliseconds(request.duration))", "bytes": "\(request.bodyBytes)",
        ]
        if let head = request.head {
            fields["method"] = "\(head.method.rawValue)"
            fields["path"] = "\(LoggedPath(target: head.path ?? "/").text)"
            fields["trace"] = head.headerFields[.traceparent].flatMap { TraceParent($0) }
                .map { "\($0.traceID)" }
        }
        fields["status"] = request.status.map { "\($0.code)" }
        if !request.isWhole { fields["cut"] = "yes" }
        return fields
    }

    /// A time such as `12.345`.
    private static func milliseconds(_ time: Duration) -> String {
        let microseconds =
            time.components.seconds * 1_000_000
            + time.components.attoseconds / 1_000_000_000_000
        let rest = String(microseconds % 1000)
        return "\(microseconds / 1000).\(String(repeating: "0", count: 3 - rest.count))\(rest)"
    }
}
