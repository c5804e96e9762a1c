import HTTPMessage
import HTTPTypes
import Logging
import Synchronization
import TablesProtocol
import Testing

@testable import HTTPServer
@testable import Program
@testable import understudy

struct RequestLogTests {
    private static let trace = "0af7651916cd43dd8448eb211c80319c"

    private func ended(
        _ path: String, traceparent: String? = nil, isWhole: Bool = true
    ) -> EndedRequest {
        var head = HTTPRequest(method: .patch, scheme: "http", authority: "h", path: path)
        if let traceparent, let name = HTTPField.Name("traceparent") {
            head.headerFields[name] = traceparent
        }
        return EndedRequest(
            head: head, status: .preconditionFailed, bodyBytes: 42,
            duration: .microseconds(1_002_003),
            isWhole: isWhole)
    }

    /// The log lines of a request, by format and level.
    private func lines(
        _ request: EndedRequest, isJSON: Bool, level: Logger.Level = .debug
    ) -> [String] {
        let lines = Mutex<[String]>([])
        let log = ProcessLog(isJSON: isJSON, level: level) { line in
            lines.withLock { $0.append(line) }
        }
        RequestLog(log: log.logger).ended(request)
        return lines.withLock { $0 }
    }

    @Test func `a line has the fields of a request, as text and as JSON`() throws {
        let request = ended(
            "/tables/todoitem/1?$select=text",
            traceparent: "00-\(Self.trace)-b7ad6b7169203331-01")
        let text = try #require(lines(request, isJSON: false).first)
        #expect(
            text.hasSuffix(
                " debug request ended bytes=42 method=PATCH milliseconds=1002.003 "
                    + "path=/tables/todoitem/* status=412 trace=\(Self.trace)"))
        let json = try JSONValue(parsing: try #require(lines(request, isJSON: true).first))
        #expect(json["message"]?.string == "request ended")
        #expect(json["path"]?.string == "/tables/todoitem/*")
        #expect(json["trace"]?.string == Self.trace)
        #expect(json["status"]?.integer == 412 && json["bytes"]?.integer == 42)
        #expect(json["milliseconds"] == (try JSONValue(parsing: "1002.003")))
    }

    @Test(arguments: Logger.Level.allCases)
    func `at a higher level nothing is collected or written`(level: Logger.Level) {
        let log = ProcessLog(isJSON: false, level: .critical) { _ in }
        let watching = RequestLog(log: log.logger)
        #expect(!watching.isWatching)
        log.level = level
        #expect(watching.isWatching == (level <= .debug))
        let written = lines(ended("/"), isJSON: false, level: level)
        #expect(written.count == (level <= .debug ? 1 : 0))
    }

    @Test func `a refused or cut request is logged with its known fields`() {
        var refused = ended("/")
        refused.head = nil
        #expect(RequestLog.fields(refused)["path"] == nil)
        #expect(RequestLog.fields(refused)["status"]?.description == "412")
        #expect(RequestLog.fields(refused)["cut"] == nil)
        var cut = ended("/", isWhole: false)
        cut.status = nil
        #expect(RequestLog.fields(cut)["status"] == nil)
        #expect(RequestLog.fields(cut)["cut"] == "yes")
        refused.status = nil
        #expect(lines(refused, isJSON: false).isEmpty)
    }
}
