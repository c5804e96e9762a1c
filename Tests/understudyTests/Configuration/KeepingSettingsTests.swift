import Proxy
import SyncCore
import Testing

@testable import Program
@testable import understudy

struct KeepingSettingsTests {
    private func sources(_ flags: [String: [String]]) -> Sources {
        Sources(flags: flags, environment: { _ in nil })
    }

    @Test func `times and sizes are read`() throws {
        let retention = try ServeConfiguration.retention(
            sources([
                "keep-history": ["2d"], "keep-attempts": ["12h"], "keep-tombstones": ["365d"],
                "history-budget": ["2G"], "attempts-budget": ["50M"],
            ]))
        #expect(retention.historySeconds == 172_800 && retention.attemptSeconds == 43_200)
        #expect(retention.tombstoneSeconds == 365 * 86_400)
        #expect(retention.historyBytes == 2 << 30 && retention.attemptBytes == 50 << 20)
        #expect(try ServeConfiguration.retention(sources([:])) == Retention())
    }

    @Test func `a plan of backups is read`() throws {
        let plan = try ServeConfiguration.backups(
            sources([
                "backup-every": ["1d"], "backup-keep": ["30"], "backup-folder": ["/var/backups/u"],
            ]))
        #expect(plan.everySeconds == 86_400 && plan.keep == 30 && plan.folder == "/var/backups/u")
        #expect(try ServeConfiguration.backups(sources([:])) == BackupPlan())
    }

    @Test func `a relative folder of backups is refused with what to give instead`() {
        let problem = #expect(throws: ConfigurationProblem.self) {
            try ServeConfiguration.backups(sources(["backup-folder": ["kept/here"]]))
        }
        #expect(
            problem?.description
                == "--backup-folder is \"kept/here\", but must be the absolute path of a folder, such as "
                + "/var/backups/understudy.")
    }

    @Test(arguments: [
        ("keep-history", ["0d", "1", "30", "d", "-1d", "4000d", "1w", "9999999999999999999d"]),
        ("history-budget", ["0M", "1", "12K", "-1M"]), ("backup-every", ["0h", "400d", "never"]),
        ("backup-keep", ["0", "1001", "two"]), ("backup-folder", ["", "kept", "./kept", "~/kept"]),
        ("offline-grace", ["3651d", "87601h", "-1h", "0", ""]), ("disk-budget", ["9M", "1K"]),
        ("parallelism", ["0", "17", "1.0"]), ("application-key-file", [""]),
    ])
    func `other values are refused`(name: String, texts: [String]) throws {
        let setting = try #require(ServeSetting.named(name))
        for text in texts { #expect(!setting.accepts(text), "\(name) = \(text)") }
    }

    @Test(arguments: [
        ("keep-history", ["1h", "3660d", "87840h"]), ("backup-every", ["1h", "366d"]),
        ("offline-grace", ["0h", "0d", "3650d"]), ("disk-budget", ["10M", "1G"]),
        ("attempts-budget", ["1M"]), ("parallelism", ["1", "16"]), ("backup-keep", ["1", "1000"]),
    ])
    func `the bounds themselves are allowed`(name: String, texts: [String]) throws {
        let setting = try #require(ServeSetting.named(name))
        for text in texts { #expect(setting.accepts(text), "\(name) = \(text)") }
    }
}
