import Logging
import Proxy
import Synchronization
import TablesProtocol
import Testing

@testable import Program
@testable import SyncCore
@testable import understudy

struct ServiceTests {
    @Test func `sockets and watchdog of another process are ignored`() {
        let said = [
            "LISTEN_FDS": "2", "LISTEN_PID": "7", "WATCHDOG_USEC": "500", "WATCHDOG_PID": "7",
        ]
        let ours = ServiceManager(process: 7) { said[$0] }
        #expect(ours.sockets == [3, 4])
        #expect(ours.watchdogMicroseconds == 500)
        let theirs = ServiceManager(process: 8) { said[$0] }
        #expect(theirs.sockets == [])
        #expect(theirs.watchdogMicroseconds == nil)
        #expect(ServiceManager(process: 7) { _ in nil }.sockets == [])
    }

    @Test func `the status line counts the operations of all identities`() {
        let backend = BackendStatus(
            url: "http://b", state: .offline, reason: "", since: Instant(milliseconds: 0))
        var first = QueueCounts()
        first.queued = 2
        first.unknown = 1
        first.conflict = 1
        var second = QueueCounts()
        second.conflict = 1
        second.quarantined = 3
        #expect(
            ServiceReport.line([first, second], backend)
                == "3 pending, 2 conflicts, 3 refused, backend offline since "
                + "1970-01-01T00:00:00.000Z")
        let unasked = BackendStatus(
            url: "http://b", state: .offline, reason: "", since: Instant(milliseconds: 0),
            isAsked: false)
        #expect(
            ServiceReport.line([first], unasked) == "3 pending, 1 conflict, backend not asked yet")
    }

    @Test func `each state of the backend is logged once, the first one too`() {
        var states: [String: BackendState] = [:]
        func isNews(_ state: BackendState, isAsked: Bool = true) -> Bool {
            ServiceReport.isNews(
                BackendStatus(
                    url: "http://b", state: state, reason: "", since: Instant(milliseconds: 0),
                    isAsked: isAsked), of: "anonymous", in: &states)
        }
        let news = [
            isNews(.offline, isAsked: false), isNews(.offline), isNews(.offline), isNews(.online),
            isNews(.offline),
        ]
        #expect(news == [false, true, false, true, true])
    }

    @Test func `a log line is one JSON object, whatever its fields hold`() throws {
        let lines = Mutex<[String]>([])
        let log = ProcessLog(isJSON: true, level: .notice) { line in
            lines.withLock { $0.append(line) }
        }
        log.logger.info("not shown")
        log.logger.notice("backend state changed", metadata: ["reason": "a \"quote\"\nand more"])
        log.level = .error
        log.logger.warning("not shown either")
        let written = lines.withLock { $0 }
        #expect(written.count == 1)
        let value = try JSONValue(parsing: written[0])
        #expect(value["message"]?.string == "backend state changed")
        #expect(value["level"]?.string == "notice")
        #expect(value["reason"]?.string == "a \"quote\"\nand more")
    }

    @Test func `a progress bar shows the progress`() {
        #expect(
            ProgressBar.line("push", done: 12, total: 24)
                == "push  [###############···············] 12 of 24")
        #expect(
            ProgressBar.line("push", done: 30, total: 24).contains(
                "##############################]"))
        #expect(ProgressBar.line("pull", done: 7, total: nil) == "pull  7")
    }

    @Test func `the last lines of a log are kept, the oldest first`() {
        let tail = LogTail(places: 3)
        #expect(tail.lines == [])
        for number in 1...3 { tail.append("\(number)") }
        #expect(tail.lines == ["1", "2", "3"])
        for number in 4...8 { tail.append("\(number)") }
        #expect(tail.lines == ["6", "7", "8"])
    }

    @Test func `the settings that hold are those of the start and of what a reload applies`() throws
    {
        func sources(_ text: String) throws -> Sources {
            Sources(
                flags: ["parallelism": ["2"]], environment: { _ in nil },
                file: try ConfigurationFile(path: "/c", text: text))
        }
        let running = RunningSettings(
            try sources("listen = 127.0.0.1:1\nbackend-proxy = http://a:b@p:1\nsync = auto"))
        running.reload(try sources("listen = 127.0.0.1:2\nlog-level = info\nparallelism = 3"))
        let shown = running.all.map { "\($0.name) \($0.values) \($0.origins)" }
        #expect(
            shown == [
                #"backend-proxy ["http://(kept secret)@p:1"] ["/c:2 backend-proxy"]"#,
                #"listen ["127.0.0.1:1"] ["/c:1 listen"]"#,
                #"parallelism ["2"] ["--parallelism"]"#,
                #"log-level ["info"] ["/c:2 log-level"]"#,
            ])
    }
}
