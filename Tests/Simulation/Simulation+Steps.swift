import HTTPMessage
import HTTPTypes
import ReferenceBackend
import TablesProtocol
import TestSupport

@testable import SyncCore

extension Simulation {
    /// Lives through `steps` steps, heals, and returns what was found wrong.
    func live(steps: Int) async throws -> [String] {
        for _ in 0..<steps where faults.isEmpty {
            try await step()
            if weather.isDead { try rebirth() }
            try await check()
        }
        if faults.isEmpty { try await heal() }
        return faults
    }

    private func step() async throws {
        switch random.next(below: 100) {
        case 0..<12: try await insertHere()
        case 12..<34: try await updateHere()
        case 34..<39: try await deleteHere()
        case 39..<43: try await insertElsewhere()
        case 43..<54: try await updateElsewhere()
        case 54..<57: try await deleteElsewhere()
        case 57..<77: try await run()
        case 77..<84: clock.advance(by: .seconds(Int64(random.next(below: 900))))
        case 84..<88: weather.faultRate = random.pick([0, 0, 0.1, 0.3, 0.9])
        case 88..<92: weather.planCrash(in: Int(random.next(below: 12)))
        case 92..<97: try await decide()
        default: clock.jump(by: .seconds(random.pick([-86_400, 3600, 86_400])))
        }
    }

    // MARK: Local clients

    private func insertHere() async throws {
        let value = "\(nextValue())"
        let given = random.happens(0.6) ? try ItemID("i\(nextValue())") : nil
        let columns = Columns(stored: #"{"m":"\#(value)","e":"0","s":"\#(value)"}"#)
        let outcome = await submit(.insert(ItemBody(id: given, columns: columns)))
        guard case .inserted(let item) = outcome else { return }
        let id = item.id.text
        weather.note("insert \(id)")
        model.ids.append(id)
        model.mine[id] = value
        model.theirs[id] = "0"
        model.shown[id] = item.columns
    }

    private func updateHere() async throws {
        guard let id = pickID() else { return }
        let value = "\(nextValue())"
        let shared = random.happens(0.3) ? #","s":"\#(value)""# : ""
        let columns = Columns(stored: #"{"m":"\#(value)"\#(shared)}"#)
        guard case .updated(let item) = await submit(.update(try ItemID(id), columns)) else {
            return
        }
        weather.note("update \(id)")
        model.mine[id] = value
        model.shown[id] = item.columns
        // A write after a delete that was not sent brings the item back.
        model.deletedHere.remove(id)
        if item.columns["m"] != .string(value) { fault("\(id) does not show what was written") }
    }

    private func deleteHere() async throws {
        guard let id = pickID() else { return }
        guard case .deleted = await submit(.delete(try ItemID(id))) else { return }
        weather.note("delete \(id)")
        model.spoiled.insert(id)
        model.deletedHere.insert(id)
        model.shown[id] = .some(nil)
    }

    private func submit(_ action: LocalWrite.Action) async -> WriteOutcome {
        clock.advance(by: .milliseconds(5))
        let outcome = await store.submit(LocalWrite(table: table, action: action))
        switch outcome {
        case .inserted, .updated, .deleted, .undeleted: model.acknowledged += 1
        case .missing, .gone, .preconditionFailed, .versionConflict, .alreadyExists,
            .unknownWhilePartial, .tableNotAllowed, .invalid:
            break
        case .storageFull, .readOnly, .busy, .failed: fault("a write was answered \(outcome)")
        }
        return outcome
    }

    private func pickID() -> String? { model.ids.isEmpty ? nil : random.pick(model.ids) }

    // MARK: Others, at the backend

    private func insertElsewhere() async throws {
        let id = "x\(nextValue())"
        let body = #"{"id":"\#(id)","m":"0","e":"\#(id)","s":"0"}"#
        guard try await elsewhere("POST", nil, body) == 201 else { return }
        model.ids.append(id)
        model.mine[id] = "0"
        model.theirs[id] = id
        model.touchedElsewhere.insert(id)
    }

    private func updateElsewhere() async throws {
        guard let id = pickID() else { return }
        let live = try await backend.items(in: table).contains { $0.id.text == id && !$0.deleted }
        guard live else { return }
        let value = "\(nextValue())"
        let shared = random.happens(0.3) ? #","s":"\#(value)""# : ""
        guard try await elsewhere("PATCH", id, #"{"e":"\#(value)"\#(shared)}"#) == 200 else {
            return
        }
        model.theirs[id] = value
        model.touchedElsewhere.insert(id)
    }

    private func deleteElsewhere() async throws {
        guard let id = pickID(), try await elsewhere("DELETE", id, nil) < 300 else { return }
        model.spoiled.insert(id)
        model.touchedElsewhere.insert(id)
    }

    private func elsewhere(_ method: String, _ id: String?, _ body: String?) async throws -> Int {
        let path = "/tables/todoitem" + (id.map { "/\($0)" } ?? "")
        weather.note("others: \(method) \(id ?? "")")
        return try await direct.send(.tables(method, path, body)).head.status.code
    }

    // MARK: The engine and the person

    func run() async throws {
        weather.note("run")
        switch random.next(below: 10) {
        case 0..<3: _ = await engine.push()
        case 3: _ = await engine.pull(table, reconcile: true)
        default: _ = await engine.sync()
        }
    }

    /// A person decides on something that is stuck.
    func decide() async throws {
        guard let stuck = try await operations([.conflict, .quarantined]).first else { return }
        if stuck.state == .quarantined {
            weather.note("retry \(stuck.itemID)")
            _ = try await store.retry(stuck.id, revision: stuck.revision)
            return
        }
        let choice = random.pick([Resolution.mine, .server])
        weather.note("resolve \(stuck.itemID) \(choice)")
        model.spoiled.insert(stuck.itemID)
        model.decided.insert(stuck.id)
        model.conflicts.remove(stuck.id)
        model.shown[stuck.itemID] = nil
        _ = try await store.resolve(stuck.id, revision: stuck.revision, choice)
    }

    /// The weather clears; in a bounded number of rounds everything must be where it belongs.
    private func heal() async throws {
        weather.note("heal")
        weather.planCrash(in: nil)
        weather.faultRate = 0
        for _ in 0..<40 {
            for _ in 0..<20 { try await decide() }
            clock.advance(by: .seconds(700))
            _ = await engine.sync()
            try await check()
            if try await operations(OperationState.open).isEmpty { break }
        }
        _ = await engine.sync()
        try await checkEnd()
    }
}
