import Foundation
import Logging
import Synchronization
import TablesProtocol
import Testing

@testable import Platform
@testable import Proxy

struct AutomaticBackupsTests {
    private static let day: Int64 = 86_400

    private func time(_ text: String) throws -> Instant { try #require(Instant(parsing: text)) }

    /// Backups of a proxy whose clock stands still.
    private func backups(
        _ test: TestApp, _ plan: BackupPlan = BackupPlan(), at now: Instant
    ) -> AutomaticBackups {
        AutomaticBackups(
            of: test.folder, plan: plan, now: { now }, sleep: { _ in }, log: Logger(label: "test"))
    }

    @Test func `a backup's name has its time, and no other name has`() throws {
        let at = try time("2026-11-25T18:45:00.123Z")
        #expect(BackupFolder.name(at) == "2026-11-25T184500.123Z")
        #expect(BackupFolder.time(of: "2026-11-25T184500.123Z") == at)
        for name in [
            "2026-11-25", "2026-11-25T184500.123", "2026-13-25T184500.123Z",
            "x026-11-25T184500.123Z",
            "2026-11-25T184500.123Z.part-1", "2026-11-25T18:4500.12Z", "",
        ] {
            #expect(BackupFolder.time(of: name) == nil, "\(name)")
        }
    }

    @Test func `a day or minute means its end`() throws {
        #expect(try BackupFolder.end(of: "2026-11-21") == time("2026-11-21T23:59:59.999Z"))
        #expect(try BackupFolder.end(of: "2026-11-21T18:30") == time("2026-11-21T18:30:59.999Z"))
        #expect(
            try BackupFolder.end(of: "2026-11-21T18:30:05.100Z") == time("2026-11-21T18:30:05.100Z")
        )
        for text in ["yesterday", "2026-02-30", "2026-11-21T25:00", ""] {
            #expect(BackupFolder.end(of: text) == nil, "\(text)")
        }
    }

    @Test func `the next backup is due a period after the latest, or some time after a failure`()
        throws
    {
        let now = try time("2026-11-25T12:00:00.000Z")
        var plan = BackupPlan()
        #expect(plan.due(begun: [], failedAt: nil, now: now) == nil)
        plan.everySeconds = Self.day
        #expect(plan.due(begun: [], failedAt: nil, now: now) == now)
        let latest = now.adding(seconds: -3600)
        let old = now.adding(seconds: -3 * Self.day)
        #expect(
            plan.due(begun: [old, latest], failedAt: nil, now: now)
                == latest.adding(seconds: Self.day))
        #expect(
            plan.due(begun: [old], failedAt: now, now: now)
                == now.adding(seconds: Limits.backupRetrySeconds))
        // After the clock was set back, one in the future does not put off the next, nor does it hide that
        // the next was made.
        let future = now.adding(seconds: 60)
        #expect(plan.due(begun: [future], failedAt: nil, now: now) == now)
        #expect(
            plan.due(begun: [latest, future], failedAt: nil, now: now)
                == latest.adding(seconds: Self.day))
    }

    @Test func `after the clock was set back, the new backup is kept and the one before goes`()
        async throws
    {
        try await TestApp.run { test in
            let clock = Mutex(try time("2026-11-25T12:00:00.000Z"))
            var plan = BackupPlan()
            (plan.everySeconds, plan.keep) = (Self.day, 2)
            let backups = AutomaticBackups(
                of: test.folder, plan: plan, now: { clock.withLock { $0 } }, sleep: { _ in },
                log: Logger(label: "test"))
            for _ in 0..<2 {
                _ = await backups.make()
                clock.withLock { $0 = $0.adding(seconds: Self.day) }
            }
            clock.withLock { $0 = $0.adding(seconds: -30 * Self.day) }
            let made = clock.withLock { $0 }
            _ = await backups.make()
            let state = await backups.state
            #expect(state.backups.map(\.at.text) == [made.text, "2026-11-26T12:00:00.000Z"])
            #expect(state.next == made.adding(seconds: Self.day))
        }
    }

    @Test func `a link and a folder without a manifest are no backups, and stay`() async throws {
        try await TestApp.run { test in
            let at = try time("2026-11-25T12:00:00.000Z")
            let folder = BackupFolder(path: "\(test.folder.path)/kept")
            let elsewhere = "\(test.folder.path)/elsewhere"
            let half = folder.path(at: at.adding(seconds: 1))
            for path in [folder.path, elsewhere, half] { try Files.makeFolder(path) }
            try Files.write("\(elsewhere)/manifest.json", [])
            try FileManager.default.createSymbolicLink(
                atPath: folder.path(at: at), withDestinationPath: elsewhere)
            var plan = BackupPlan()
            (plan.folder, plan.keep) = (folder.path, 1)
            let backups = backups(test, plan, at: at.adding(seconds: 60))
            for _ in 0..<2 { _ = await backups.make() }
            #expect(folder.backups.map(\.at) == [at.adding(seconds: 60)])
            #expect(Files.exists("\(elsewhere)/manifest.json") && Files.exists(half))
        }
    }

    @Test func `what an ended process left of a backup is removed after a day, and nothing else`()
        async throws
    {
        try await TestApp.run { test in
            let now = try time("2026-11-25T12:00:00.000Z")
            let folder = BackupFolder(path: "\(test.folder.path)/kept")
            let old = folder.path(at: now.adding(seconds: -2 * Self.day))
            let left = "\(old)\(Backup.unfinishedMark)abc"
            let others = [
                "\(folder.path(at: now.adding(seconds: -60)))\(Backup.unfinishedMark)abc",
                "\(folder.path)/mine\(Backup.unfinishedMark)abc", "\(old).old",
            ]
            for path in [left] + others { try Files.makeFolder("\(path)/stores") }
            var plan = BackupPlan()
            plan.folder = folder.path
            let backups = backups(test, plan, at: now)
            _ = await backups.make()
            #expect(!Files.exists(left))
            #expect(others.filter { !Files.exists($0) } == [])
        }
    }

    @Test func `the backups are among what Understudy makes in its folder`() {
        let path = BackupFolder.standardPath(of: DataFolder(path: "/d"))
        #expect(DataFolder.isOwn(String(path.dropFirst("/d/".count))))
    }

    @Test func `backups are made when they are due, are whole, and the oldest are removed`()
        async throws
    {
        try await TestApp.run { test in
            _ = await test.table("POST", "todoitem", #"{"id":"a","text":"one"}"#)
            let clock = Mutex(try time("2026-11-25T12:00:00.000Z"))
            let folder = BackupFolder(path: "\(test.folder.path)/kept")
            var plan = BackupPlan()
            (plan.folder, plan.everySeconds, plan.keep) = (folder.path, Self.day, 2)
            let looks = Mutex(0)
            let backups = AutomaticBackups(
                of: test.folder, plan: plan, now: { clock.withLock { $0 } },
                sleep: { _ in
                    // Each look is 12 hours after the one before, and nothing happens after the ninth.
                    clock.withLock { $0 = $0.adding(seconds: Self.day / 2) }
                    let count = looks.withLock { looks in
                        looks += 1
                        return looks
                    }
                    if count == 9 { try? await Task.sleep(for: .seconds(3600)) }
                }, log: Logger(label: "test"))
            let loop = Task { await backups.run() }
            while looks.withLock({ $0 }) < 9 { await Task.yield() }
            loop.cancel()
            await loop.value
            // Due at 0, 24, 48, 72 and 96 hours; two are kept.
            let kept = folder.backups
            #expect(
                kept.map(\.at.text) == ["2026-11-28T12:00:00.000Z", "2026-11-29T12:00:00.000Z"])
            #expect(try await Self.openOperations(kept.map(\.path)) == [1, 1])
            #expect(folder.latest(by: try time("2026-11-28T23:00:00.000Z"))?.at == kept[0].at)
            #expect(folder.latest(by: try time("2026-11-28T11:00:00.000Z")) == nil)
            let state = await backups.state
            #expect(state.failure == nil && state.next == kept[1].at.adding(seconds: Self.day))
        }
    }

    @Test func `a failed backup is told, leaves nothing, and is tried again later`() async throws {
        try await TestApp.run { test in
            let now = try time("2026-11-25T12:00:00.000Z")
            var plan = BackupPlan()
            plan.everySeconds = Self.day
            // The folder cannot be made, since a file has its name.
            plan.folder = "\(test.folder.path)/taken/backups"
            try Files.write("\(test.folder.path)/taken", [])
            let backups = backups(test, plan, at: now)
            guard case .failure(let problem) = await backups.make() else {
                Issue.record("a backup was made")
                return
            }
            let state = await backups.state
            #expect(state.failure == problem.sentence && state.backups.isEmpty)
            #expect(state.next == now.adding(seconds: Limits.backupRetrySeconds))
        }
    }

    @Test func `a backup that the disk has no space for is not begun`() async throws {
        try await TestApp.run { test in
            // The file has a hole, so it takes no space; a copy could.
            let store = try test.folder.storeFile("user-\(String(repeating: "0", count: 24))")
            try Files.write(store, [])
            let file = try FileHandle(forWritingTo: URL(filePath: store))
            try file.truncate(atOffset: 8 << 40)
            try file.close()
            let at = try time("2026-11-25T12:00:00.000Z")
            let backups = backups(test, at: at)
            guard case .failure(let problem) = await backups.make() else {
                Issue.record("a backup was made")
                return
            }
            #expect(problem.sentence.contains("name a folder on another disk"))
            let path = BackupFolder.standardPath(of: test.folder)
            #expect(Files.exists(path) && Files.names(in: path).isEmpty)
        }
    }

    @Test func `a manifest names each file with its size and SHA-256, and what differs is refused`()
        async throws
    {
        try await TestApp.run { test in
            _ = await test.table("POST", "todoitem", #"{"id":"a","text":"one"}"#)
            try Files.write(test.folder.policiesFile, Array("abc".utf8))
            let at = try time("2026-11-25T12:00:00.000Z")
            let backups = backups(test, at: at)
            let path = try await backups.make().get().backup.path
            let manifest = try JSONValue(
                parsing: try #require(try Files.read("\(path)/manifest.json")))
            let store = "stores/anonymous/store.sqlite"
            #expect(manifest["version"]?.integer == 2)
            #expect(manifest["program"]?.string == Version.text)
            let files = try #require(manifest["files"]?.array)
            #expect(files.map { $0["name"]?.string } == ["policies", store])
            #expect(
                files[0]
                    == .members(
                        ("name", .string("policies")), ("bytes", .number(3)),
                        (
                            "sha256",
                            .string(
                                "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
                        )))
            #expect(
                files[1]["bytes"]?.integer == Files.size("\(path)/\(store)").map { $0 })
            #expect(try await Self.openOperations([path]) == [1])

            func refusal() async -> String? {
                do {
                    _ = try await Self.openOperations([path])
                    return nil
                } catch {
                    return (error as? StartProblem)?.sentence ?? "\(error)"
                }
            }
            let changed = "is not as it was written: restore another backup."
            try Files.write("\(path)/policies", Array("abd".utf8))
            #expect(await refusal() == "\(path)/policies \(changed)")
            try FileManager.default.removeItem(atPath: "\(path)/policies")
            #expect(
                await refusal()
                    == "\(path) lacks a file that its manifest names: restore another backup.")
            try Files.write("\(path)/policies", Array("abc".utf8))
            // A bit in the text of a row, which no check of SQLite sees.
            let kept = try #require(try Files.read("\(path)/\(store)"))
            var bytes = kept
            let text = Array("one".utf8)
            let index = try #require(
                bytes.indices.first { bytes[$0...].starts(with: text) })
            bytes[index] ^= 1
            try Files.write("\(path)/\(store)", bytes)
            #expect(await refusal() == "\(path)/\(store) \(changed)")
            try FileManager.default.removeItem(atPath: "\(path)/\(store)")
            #expect(await refusal()?.hasPrefix("\(path)/\(store) is missing") == true)
            try Files.write("\(path)/\(store)", kept)
            #expect(await refusal() == nil)
            let old = manifest.text.replacing(#""version":2"#, with: #""version":1"#)
            try Files.write("\(path)/manifest.json", Array(old.utf8))
            #expect(await refusal()?.contains("a backup of another version") == true)
        }
    }

    @available(*, noasync)
    private static func verified(_ path: String) throws -> Int {
        try Backup(path: path).verified().reduce(0) { $0 + $1.openOperations }
    }

    private static func openOperations(_ paths: [String]) async throws -> [Int] {
        try await Task.detached { try paths.map { try blocking($0) } }.value
    }

    private static func blocking(_ path: String) throws -> Int { try verified(path) }
}
