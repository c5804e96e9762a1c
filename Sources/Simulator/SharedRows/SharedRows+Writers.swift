import Backend
import HTTPMessage
import HTTPTypes
import SyncCore
import TablesProtocol

// The writers: local clients with every verb, and other writers at the backend.
extension SharedRows {
    /// A client writes one row, once or several times.
    func writeHere(_ proxy: SharedRowsProxy) async throws {
        let fresh = ids.isEmpty || random.happens(0.15)
        // The latest rows are written more often.
        let known = random.happens(0.5) ? ids.suffix(3) : ids[...]
        let id = fresh ? "\(Self.madeHere)\(value().filter(\.isNumber))" : random.pick(Array(known))
        for _ in 0..<random.pick([1, 1, 1, 2, 4]) { try await write(id, at: proxy) }
    }

    private func write(_ id: String, at proxy: SharedRowsProxy) async throws {
        let rows = try await proxy.rows()
        let row = ValueHistory.row(rows[id])
        var intended: ValueHistory.Row = [:]
        let action: LocalWrite.Action
        let verb: String
        if rows[id] == nil {
            if !ids.contains(id) || random.happens(0.6) {
                for name in Self.columns {
                    intended[name] = random.happens(0.7) ? value() : ValueHistory.null
                }
                action = .insert(ItemBody(id: try ItemID(id), columns: columns(intended)))
                verb = "insert"
            } else {
                action = .undelete(try ItemID(id))
                verb = "undelete"
            }
            intended[ValueHistory.deleted] = "false"
        } else {
            switch random.next(below: 10) {
            case 0..<6:
                for _ in 0...random.next(below: 2) {
                    intended[random.pick(Self.columns)] =
                        random.happens(0.1) ? ValueHistory.null : value()
                }
                action = .update(try ItemID(id), columns(intended, withNull: true))
                verb = "patch"
            case 6..<8:
                // The client's row with one column changed, and sometimes one left out.
                var whole = row
                whole[ValueHistory.deleted] = nil
                let changed = random.pick(Self.columns)
                whole[changed] = value()
                intended[changed] = whole[changed]
                if random.happens(0.3),
                    let left = whole.keys.sorted().first(where: { $0 != changed })
                {
                    whole[left] = nil
                    intended[left] = ValueHistory.null
                }
                action = .replace(try ItemID(id), columns(whole))
                verb = "put"
            default:
                intended[ValueHistory.deleted] = "true"
                action = .delete(try ItemID(id))
                verb = "delete"
            }
        }
        // A change of a row also intends that the row exists.
        intended[ValueHistory.deleted] = intended[ValueHistory.deleted] ?? "false"
        let condition: IfMatch =
            random.happens(0.3) || isBesideRead
            ? rows[id].map { .versions([$0.version]) } ?? .absent : .absent
        clock.advance(by: .milliseconds(5))
        let outcome = await proxy.store.submit(
            LocalWrite(table: table, action: action, conditions: Conditions(ifMatch: condition)))
        guard outcome.isSuccess else { return }
        note("p\(proxy.number) \(verb) \(id) \(intended) over \(row)")
        if !ids.contains(id) { ids.append(id) }
        history.recordShown(row, of: id, to: proxy.number, columns: Self.columns)
        history.recordIntent(intended, of: id, by: proxy.number)
        let acknowledged =
            verb == "undelete" ? ValueHistory.row(try await proxy.rows()[id]) : intended
        expected[id, default: [:]][ValueHistory.deleted] = nil
        for (name, value) in acknowledged where name != ValueHistory.deleted {
            expected[id, default: [:]][name] = value
        }
        if intended[ValueHistory.deleted] == "true" {
            // Another writer's row may be one that the client never saw.
            expected[id] = id.hasPrefix(Self.madeHere) ? [ValueHistory.deleted: "true"] : nil
        }
    }

    private func columns(_ row: ValueHistory.Row, withNull: Bool = false) -> Columns {
        let names = row.keys.sorted().filter { $0 != ValueHistory.deleted }
        let text = names.compactMap { name -> String? in
            guard let value = row[name], withNull || value != ValueHistory.null else { return nil }
            return "\"\(name)\":\(value)"
        }
        return Columns(stored: "{\(text.joined(separator: ","))}")
    }

    func writeElsewhere() {
        switch random.next(below: 10) {
        case 0: insertElsewhere()
        case 1: changeElsewhere("DELETE", nil)
        default:
            changeElsewhere("PATCH", [random.pick(Self.columns): value()])
        }
    }

    func insertElsewhere() {
        let id = "x\(value().filter(\.isNumber))"
        ids.append(id)
        var row: ValueHistory.Row = [:]
        for name in Self.columns where random.happens(0.7) { row[name] = value() }
        var whole = columns(row)
        whole["id"] = .string(id)
        send("POST", nil, whole.text)
    }

    private func changeElsewhere(_ method: String, _ change: ValueHistory.Row?) {
        let live = remote().filter { !$0.value.deleted }.keys.sorted()
        guard !live.isEmpty else { return insertElsewhere() }
        let id = random.pick(live)
        guard let change else { return send(method, id, nil) }
        // The third generation replaces whole rows.
        guard plan.flavour == .datasync || plan.flavour == .toolkit else {
            return send(method, id, columns(change).text)
        }
        var row = ValueHistory.row(remote()[id])
        row.merge(change) { $1 }
        var whole = columns(row)
        whole["id"] = .string(id)
        send("PUT", id, whole.text)
    }

    private func send(_ method: String, _ id: String?, _ body: String?) {
        let before = remote()
        var request = Request.tables(
            method, "/tables/todoitem" + (id.map { "/\($0)" } ?? ""), body)
        if let name = HTTPField.Name("ZUMO-API-VERSION") {
            request.head.headerFields[name] =
                switch plan.flavour {
                case .mobileServices: nil
                case .mobileApps, .node, .express, .dotnet: "2.0.0"
                case .datasync, .toolkit: "3.0.0"
                }
        }
        _ = backend.respond(to: request)
        recordChanges(since: before, by: -1, what: method)
    }
}
