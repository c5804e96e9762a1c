import Backend
import HTTPMessage
import HTTPTypes
import SyncCore
import TablesProtocol

// The writers: local clients with every verb, and others at the backend.
extension SharedRows {
    /// A client works on one row, which takes one write or some.
    func writeHere(_ proxy: SharedRowsProxy) async throws {
        let fresh = ids.isEmpty || random.happens(0.15)
        // What was written last is written again more often.
        let known = random.happens(0.5) ? ids.suffix(3) : ids[...]
        let id = fresh ? "\(Self.madeHere)\(value().filter(\.isNumber))" : random.pick(Array(known))
        for _ in 0..<random.pick([1, 1, 1, 2, 4]) { try await write(id, at: proxy) }
    }

    private func write(_ id: String, at proxy: SharedRowsProxy) async throws {
        let rows = try await proxy.rows()
        let row = ValueHistory.row(rows[id])
        var meant: ValueHistory.Row = [:]
        let action: LocalWrite.Action
        let verb: String
        if rows[id] == nil {
            if !ids.contains(id) || random.happens(0.6) {
                for name in Self.columns {
                    meant[name] = random.happens(0.7) ? value() : ValueHistory.null
                }
                action = .insert(ItemBody(id: try ItemID(id), columns: columns(meant)))
                verb = "insert"
            } else {
                action = .undelete(try ItemID(id))
                verb = "undelete"
            }
            meant[ValueHistory.deleted] = "false"
        } else {
            switch random.next(below: 10) {
            case 0..<6:
                for _ in 0...random.next(below: 2) {
                    meant[random.pick(Self.columns)] =
                        random.happens(0.1) ? ValueHistory.null : value()
                }
                action = .update(try ItemID(id), columns(meant, withNull: true))
                verb = "patch"
            case 6..<8:
                // What the client holds, one column changed, one perhaps left out.
                var whole = row
                whole[ValueHistory.deleted] = nil
                let changed = random.pick(Self.columns)
                whole[changed] = value()
                meant[changed] = whole[changed]
                if random.happens(0.3),
                    let left = whole.keys.sorted().first(where: { $0 != changed })
                {
                    whole[left] = nil
                    meant[left] = ValueHistory.null
                }
                action = .replace(try ItemID(id), columns(whole))
                verb = "put"
            default:
                meant[ValueHistory.deleted] = "true"
                action = .delete(try ItemID(id))
                verb = "delete"
            }
        }
        // A change of a row says as well that it is to be there.
        meant[ValueHistory.deleted] = meant[ValueHistory.deleted] ?? "false"
        let condition: IfMatch =
            random.happens(0.3) || isBesideRead
            ? rows[id].map { .versions([$0.version]) } ?? .absent : .absent
        clock.advance(by: .milliseconds(5))
        let outcome = await proxy.store.submit(
            LocalWrite(table: table, action: action, conditions: Conditions(ifMatch: condition)))
        guard outcome.isSuccess else { return }
        note("p\(proxy.number) \(verb) \(id) \(meant) over \(row)")
        if !ids.contains(id) { ids.append(id) }
        history.show(row, of: id, to: proxy.number, columns: Self.columns)
        history.mean(meant, of: id, by: proxy.number)
        let said = verb == "undelete" ? ValueHistory.row(try await proxy.rows()[id]) : meant
        promised[id, default: [:]][ValueHistory.deleted] = nil
        for (name, value) in said where name != ValueHistory.deleted {
            promised[id, default: [:]][name] = value
        }
        if meant[ValueHistory.deleted] == "true" {
            // A row that others made may be one that the client never saw.
            promised[id] = id.hasPrefix(Self.madeHere) ? [ValueHistory.deleted: "true"] : nil
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
        book(from: before, by: -1, what: method)
    }
}
