import Logging
import Proxy
import SyncCore
import Synchronization
import TablesProtocol
import Testing

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
                == "3 pending, 2 conflicts, 3 quarantined, backend offline since "
                + "1970-01-01T00:00:00.000Z")
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

    @Test func `a support bundle names neither users nor home folders`() throws {
        let redaction = Redaction(identities: ["ana-1f", "ben-2c"], home: "/home/ana")
        let value = JSONValue.members(
            ("ana-1f", .array([.string("store /home/ana/x of ben-2c")])), ("n", .number(1)))
        #expect(redaction.text(value) == #"{"user-1":["store ~/x of user-2"],"n":1}"#)
        let operation = JSONValue.members(
            ("id", .string("1")), ("itemId", .string("secret")), ("title", .string("secret")))
        #expect(Redaction.operation(operation).text == #"{"id":"1"}"#)
    }
}
