import Foundation
import GRDB
import HTTPMessage

@testable import Simulator
@testable import Storage
@testable import SyncCore

/// Performs a planted bug.
struct WorldBug: PlantedBug {
    let bug: Bug
    private let held = TransportBug.Held()

    init(_ bug: Bug) { self.bug = bug }

    var startsLoops: Bool { bug != .neverStartsLoop }

    func answer(
        _ request: Request, base: any HTTPTransport, random: SeededRandom
    ) async throws(TransportError) -> Response? {
        try await TransportBug(bug: bug, base: base, random: random, held: held)
            .answer(request)
    }

    func act(in proxy: SimulatedProxy, random: SeededRandom) async throws {
        if let sql = bug.sql, random.happens(0.2) { try await tamper(proxy, sql) }
        if bug == .forgetsCommits, proxy.transport.plansCrash { proxy.freezeDisk() }
    }

    func runsMaintenance(of proxy: SimulatedProxy) async throws -> Bool {
        guard bug == .deletesOpenOperations else { return false }
        try await tamper(proxy, "DELETE FROM operations WHERE closed_at IS NULL")
        return true
    }

    func damage(storeAt path: String) throws {
        guard bug == .corruptsFile else { return }
        let queue = try DatabaseQueue(path: path)
        try queue.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)")
        }
        try queue.close()
        var bytes = Array(try Data(contentsOf: URL(fileURLWithPath: path)))
        for page in stride(from: 3, to: bytes.count / 4096, by: 2) {
            for place in page * 4096..<page * 4096 + 600 { bytes[place] = 0xA5 }
        }
        try Data(bytes).write(to: URL(fileURLWithPath: path))
    }

    private func tamper(_ proxy: SimulatedProxy, _ sql: String) async throws {
        try await proxy.store.writer.connection.queue.write { try $0.execute(sql: sql) }
    }
}
