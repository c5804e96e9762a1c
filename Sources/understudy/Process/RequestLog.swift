import HTTPServer
import HTTPTypes
import Logging
import Proxy
import TablesProtocol

/// Logs each request that has ended, at the level `debug`. At a higher level nothing is collected.
struct RequestLog: RequestObserver {
    let log: Logger

    /// Whether the log has the level `debug`.
    var isWatching: Bool { log.logLevel <= .debug }

    /// Logs a request. Bytes that libmicrohttpd could not read are not logged; they count as a refused
    /// request.
    func ended(_ request: EndedRequest) {
        guard request.head != nil || request.status != nil else { return }
        log.debug("request ended", metadata: Self.fields(request))
    }

    /// The metadata of the line.
    static func fields(_ request: EndedRequest) -> Logger.Metadata {
        var fields: Logger.Metadata = [
            "bytes": .stringConvertible(request.bodyBytes)
        ]
        fields["milliseconds"] = JSONNumber(milliseconds(request.duration)).map {
            .stringConvertible($0)
        }
        if let head = request.head {
            fields["method"] = "\(head.method.rawValue)"
            fields["path"] = "\(LoggedPath(target: head.path ?? "/").text)"
            fields["trace"] = head.headerFields[.traceparent].flatMap { TraceParent($0) }
                .map { "\($0.traceID)" }
        }
        fields["status"] = request.status.map { .stringConvertible($0.code) }
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
