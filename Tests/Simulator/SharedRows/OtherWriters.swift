import HTTPMessage
import HTTPTypes
import SyncCore
import TablesProtocol

@testable import Backend

// The other writers at the backend: users without a proxy, scripts, and what changes rows past any of them.
extension SharedRows {
    func writeElsewhere() {
        switch random.next(below: 10) {
        case 0: insertElsewhere()
        case 1: changeElsewhere("DELETE")
        default: changeElsewhere("PATCH")
        }
    }

    func insertElsewhere() {
        let isNote = plan.hasNotes && random.happens(0.3)
        let name = newName(isNote ? "m" : "x")
        names.append(name)
        var row: ValueHistory.Row = [:]
        for column in columns(of: name) where random.happens(0.7) {
            row[column] = value(column, of: name, among: remote())
        }
        var whole = columns(row)
        if plan.hasIntegerIDs(table(of: name)) {
            whole["t"] = .string(name)
        } else {
            // A column of the type uuid has one spelling.
            let isFree = plan.habits.contains(.equalIDs)
            whole["id"] = .string(isFree ? spelled(name) : name)
        }
        send("POST", table(of: name), nil, whole.text)
        guard plan.habits.contains(.lateCommits), random.happens(0.5) else { return }
        let time = Duration.seconds(1 + random.next(below: 8))
        for proxy in proxies { proxy.transport.hide(name, for: time) }
        note("others \(name) is committed after \(time)")
    }

    /// Another writer has a row with the id that a store would give to its first new row. The stores know it.
    func insertHighIDElsewhere() async throws {
        let name = newName("x")
        names.append(name)
        let before = remote()
        let row = MovedRow(id: "2147483647", columns: Columns([.init("t", .string(name))]))
        let (table, move) = (tables[0], Move(at: backend.clock(), source: .backend, isInUse: true))
        _ = try await backend.onStorageThread {
            try $0.move([row], into: table, creating: TableOptions(idKind: .integer), move)
        }
        recordChanges(since: before, by: -1, what: "move")
        // A client that was given the same id before would write that row.
        isInterfering = true
        for proxy in proxies { _ = await proxy.engine.sync() }
        isInterfering = false
    }

    /// Another writer changes a column of a row, or deletes it.
    func changeElsewhere(_ method: String, _ known: String? = nil) {
        let live = remote().filter { !$0.value.deleted && !unverdicted.contains($0.key) }
        guard !live.isEmpty else { return insertElsewhere() }
        let name = known ?? random.pick(live.keys.sorted())
        guard let item = live[name] else { return }
        if method == "DELETE" { return send(method, table(of: name), item.id, nil) }
        let column = random.pick(columns(of: name))
        let change = [column: value(column, of: name, among: live)]
        // The third generation replaces whole rows.
        guard plan.generation == .datasync else {
            return send(method, table(of: name), item.id, columns(change, withNull: true).text)
        }
        var row = ValueHistory.row(item)
        row.merge(change) { $1 }
        var whole = columns(row)
        whole["id"] = .string(item.id.text)
        send("PUT", table(of: name), item.id, whole.text)
    }

    // MARK: Changes that no time shows

    /// A row goes without a trace, comes with an old time, or the clock repeats an hour.
    func changeSilently() {
        let before = remote()
        switch other.next(below: 4) {
        case 0..<2:
            let live = before.filter { !$0.value.deleted }.keys.sorted()
            guard !live.isEmpty else { return }
            let name = other.pick(live)
            removeSilently(name, before)
        case 2:
            let name = newName("x")
            names.append(name)
            let row = columns(Dictionary(uniqueKeysWithValues: Self.columns.map { ($0, value()) }))
            let age = other.pick([100_000, 3_600_000] as [Int64])
            let time = Instant(milliseconds: clock.now().milliseconds - age)
            let moved = MovedRow(
                id: name, columns: row, createdAt: time, updatedAt: time,
                version: Base64.encoded(Array(name.utf8)))
            let move = Move(at: backend.clock(), source: .backend, isInUse: false)
            let options = plan.backendOptions(tables).tables[tables[0]] ?? TableOptions()
            _ = try? storage.move([moved], into: tables[0], creating: options, move)
        default: backendClock.beLate(by: .seconds(3600))
        }
        recordChanges(since: before, by: -1, what: "silent change")
    }

    private func removeSilently(_ name: String, _ before: [String: Item]) {
        guard let item = before[name] else { return }
        let row = Row(
            id: item.id.text, columns: item.columns, createdAt: item.createdAt ?? item.updatedAt,
            updatedAt: item.updatedAt, version: item.version, deleted: false)
        let write = Write(
            at: backend.clock(), stamps: .increasing, newColumns: [], method: "DELETE")
        _ = try? storage.remove([row], from: table(of: name), write)
    }

    /// A custom API changes some rows at once, and its client pulls afterwards.
    func callAPI(_ proxy: SharedRowsProxy) async throws {
        _ = await proxy.engine.push(isExplicit: false)
        let live = remote().filter { !$0.value.deleted && !unverdicted.contains($0.key) }
        for name in live.keys.sorted() where other.happens(0.4) {
            changeElsewhere(other.happens(0.2) ? "DELETE" : "PATCH", name)
        }
        let was = isInterfering
        isInterfering = true
        defer { isInterfering = was }
        let run = await proxy.engine.pull(tables[0])
        guard run.state == .complete, run.pull.allSatisfy({ $0.error == nil }),
            !proxy.transport.faultPlan.isFaulty, !plan.isStale
        else { return }
        let (local, remote) = (try await proxy.stored(), remote())
        for (name, row) in local where table(of: name) == tables[0] && !row.isPending {
            let (here, there) = (ValueHistory.row(row.item), ValueHistory.row(remote[name]))
            let isGone =
                here[ValueHistory.deleted] == "true" && there[ValueHistory.deleted] == "true"
            if !isGone, here != there, !proxy.transport.isHidden(name), remote[name] != nil {
                fault("a custom API left \(name) as \(there), and a pull after it as \(here)", name)
            }
        }
    }

    private func send(_ method: String, _ table: TableName, _ id: ItemID?, _ body: String?) {
        let before = remote()
        var request = Request.tables(
            method, "/tables/\(table)" + (id.map { "/\($0)" } ?? ""), body)
        if let name = HTTPField.Name("ZUMO-API-VERSION") {
            request.head.headerFields[name] =
                switch plan.generation {
                case .mobileServices: nil
                case .mobileApps: "2.0.0"
                case .datasync: "3.0.0"
                }
        }
        _ = backend.respond(to: request)
        recordChanges(since: before, by: -1, what: method)
    }
}
