import HTTPMessage
import HTTPTypes
import SyncCore
import TablesProtocol

/// A version that a client holds, from the answer to its own write.
struct HeldVersion {
    var proxy: Int
    var version: String
    /// The row that the answer showed.
    var row: ValueHistory.Row
    /// The columns that the client changed.
    var sent: Set<String>
    /// Whether a client has sent the whole row, with the columns of scripts.
    var isWhole: Bool
    /// How often others had changed the item by then.
    var changes: Int
}

// The local clients, with every verb.
extension SharedRows {
    /// A client writes one row, once or several times.
    func writeHere(_ proxy: SharedRowsProxy) async throws {
        let fresh = names.isEmpty || random.happens(0.15)
        // The latest rows are written more often.
        let known = random.happens(0.5) ? names.suffix(3) : names[...]
        let isNote = plan.hasNotes && random.happens(0.5)
        let name = fresh ? newName(isNote ? "n" : "i") : random.pick(Array(known))
        if fresh, isNote, plan.habits.contains(.foreignKey), random.happens(0.3) {
            return try await insertBeforeParent(name, at: proxy)
        }
        for _ in 0..<random.pick([1, 1, 1, 2, 4]) { try await write(name, at: proxy) }
    }

    /// A client inserts a note before the row that it names.
    private func insertBeforeParent(_ note: String, at proxy: SharedRowsProxy) async throws {
        let parent = newName("i")
        nextParent = parent
        try await write(note, at: proxy)
        nextParent = nil
        try await write(parent, at: proxy)
    }

    /// A client changes a row, deletes it, and brings it back when the deletion was perhaps sent.
    func bringBack(_ proxy: SharedRowsProxy) async throws {
        let rows = try await proxy.rows()
        guard let name = names.filter({ rows[$0] != nil }).last else { return }
        if random.happens(0.7) { try await write(name, at: proxy, as: .update) }
        try await write(name, at: proxy, as: .delete)
        if random.happens(0.8) { _ = await proxy.engine.push() }
        try await write(name, at: proxy, as: .undelete)
    }

    /// One write of a client: what it intends, and the action that asks for it.
    private struct Intention {
        var action: WriteAction
        var verb: String
        var intended: ValueHistory.Row
        var generation: Generation?
    }

    /// - Parameter kind: an update, a deletion or an undelete; nil for any write.
    func write(
        _ name: String, at proxy: SharedRowsProxy, as kind: OperationKind? = nil
    ) async throws {
        let before = try await proxy.stored()[name]
        let rows = try await proxy.rows()
        let present = rows[name]
        guard let id = try present.map({ knownID(of: name, $0, at: proxy) }) ?? newID(of: name)
        else { return }
        let row = ValueHistory.row(present)
        let isSoft = try await proxy.store.deletesSoftly(table(of: name))
        let isStuck = try await !proxy.store.lists.operations(
            OperationFilter(states: OperationState.waitsForPerson.union([.waiting])),
            after: nil, limit: 1
        ).items.isEmpty
        var intention =
            try present == nil
            ? absentRow(name, id, rows, kind) : change(name, id, row, rows, kind)
        // A change of a row also intends that the row exists.
        let deleted = intention.intended[ValueHistory.deleted] ?? "false"
        intention.intended[ValueHistory.deleted] = deleted
        let condition = try await condition(for: name, present, row, at: proxy)
        clock.advance(by: .milliseconds(5))
        var write = LocalWrite(
            table: table(of: name), action: intention.action,
            conditions: Conditions(ifMatch: condition.ifMatch),
            generation: intention.generation ?? clientGeneration)
        // A write that is made while a request is in flight cannot wait for the run of that request.
        write.isAwaited = plan.sendsLive && !isInterfering && other.happens(0.6)
        let outcome = await proxy.store.submit(write)
        try judge(condition, outcome, name)
        if intention.verb == "insert", plan.hasIntegerIDs(table(of: name)), !outcome.isSuccess {
            fault("\(name) was not inserted: \(outcome)", name)
        }
        guard outcome.isSuccess else { return }
        note(
            "p\(proxy.number) \(intention.verb) \(name) \(intention.intended) over \(condition.shown)"
                + " if \(condition.ifMatch)")
        remember(outcome, name, intention, at: proxy)
        history.recordShown(condition.shown, of: name, to: proxy.number, columns: columns(of: name))
        intend(intention.intended, name, by: proxy.number)
        if let parent = intention.intended["p"], parent != ValueHistory.null {
            let text = parent.filter { $0 != "\"" }
            let isHere = isMadeHere(text) && rows[text] != nil && provenance[text] == proxy.number
            referred[name] = (text, isHere)
        }
        if intention.verb == "insert" { provenance[name] = proxy.number }
        if intention.verb == "insert" { inserting.insert(name) }
        if intention.verb == "put" { replaced.insert(name) }
        // What was inserted here and has no verdict is an insert again.
        if intention.verb == "undelete", known.contains("\(proxy.number) \(name)") {
            undeleting.insert(name)
        } else {
            undeleting.remove(name)
        }
        let acknowledged =
            intention.verb == "undelete"
            ? ValueHistory.row(try await proxy.rows()[name]) : intention.intended
        expected[name, default: [:]][ValueHistory.deleted] = nil
        // What is brought back is what its client deleted.
        if intention.verb == "undelete" {
            expected[name, default: [:]].merge(buried[name] ?? [:]) { $1 }
        }
        for (column, value) in acknowledged where columns(of: name).contains(column) {
            let isBuried = intention.verb == "undelete" && buried[name]?[column] != nil
            if !isBuried { expected[name, default: [:]][column] = plan.stored(value) }
        }
        for column in intention.intended.keys { unburied[name]?[column] = nil }
        if deleted == "true" {
            unburied[name] = nil
            let isKnown = before?.serverVersion != nil && !inserting.contains(name)
            let isSent = isSoft && !isStuck && isKnown && plan.hasVersions
            beneath[name] = isSent ? expected[name] : nil
            buried[name] = expected[name]
            // Another writer's row may be one that the client never saw.
            expected[name] = isMadeHere(name) ? [ValueHistory.deleted: "true"] : nil
        }
        if write.isAwaited { await sendLive(outcome, write.table, at: proxy) }
    }

    /// Sends a write while its client waits. What the backend refuses is left to a person.
    private func sendLive(
        _ outcome: WriteOutcome, _ table: TableName, at proxy: SharedRowsProxy
    ) async {
        guard let item = outcome.item else { return }
        let write = AwaitedWrite(
            table: table, itemID: item.id, operation: outcome.operation?.id, client: "1",
            waitsInLine: item.id.kind == .integer)
        let isAnswered = await proxy.engine.send(write) { $0.standing.operation == nil }
        if !isAnswered { proxy.engine.acknowledged(write) }
    }

    /// The generation of a client: any, or the backend's where no list tells that.
    private var clientGeneration: Generation {
        let drawn = random.pick(Generation.allCases)
        return plan.habits.contains(.insertOnly) ? plan.generation : drawn
    }

    /// The columns that clients write.
    func columns(of name: String) -> [String] {
        var columns = Self.columns
        if table(of: name) == Self.notes {
            if plan.habits.contains(.foreignKey) { columns.append("p") }
        } else {
            if plan.habits.contains(.uniqueColumn) { columns.append("u") }
            if plan.habits.contains(.parameter) { columns.append("region") }
        }
        return columns
    }

    /// A new value of a column. Of a unique one sometimes another row's, of one that names a row often such a
    /// row's id.
    /// - Parameter isRefusable: whether it may be one that a script refuses.
    func value(
        _ column: String, of name: String, among rows: [String: Item], isRefusable: Bool = false
    ) -> String {
        let others = rows.filter { $0.key != name && !$0.value.deleted }
        switch column {
        case "u" where random.happens(0.4):
            let taken = others.values.compactMap { $0.columns["u"]?.text }.sorted()
            return taken.isEmpty ? value() : random.pick(taken)
        case "p":
            if let nextParent { return "\"\(nextParent)\"" }
            let parents = others.keys.filter { table(of: $0) != Self.notes }.sorted()
            return parents.isEmpty ? ValueHistory.null : "\"\(random.pick(parents))\""
        case "region": return random.pick(["\"EU\"", "\"US\""])
        default: return value(isRefusable: isRefusable)
        }
    }

    /// Records what a side intends, as it sent it and as the backend stores it.
    func intend(_ row: ValueHistory.Row, _ name: String, by side: Int) {
        history.recordIntent(row, of: name, by: side)
        let stored = row.mapValues(plan.stored)
        if stored != row { history.recordIntent(stored, of: name, by: side) }
    }

    /// The id of a row, or the one that the answer to its insert had.
    private func knownID(of name: String, _ present: Item, at proxy: SharedRowsProxy) -> ItemID {
        let first = provisional.first { $0.proxy == proxy.number && $0.name == name }
        return random.happens(0.4) ? first?.id ?? present.id : present.id
    }

    /// The id of a row that the store does not have; nil where a client cannot name it.
    private func newID(of name: String) throws -> ItemID? {
        guard plan.hasIntegerIDs(table(of: name)) else { return try ItemID(spelled(name)) }
        return names.contains(name) ? nil : try ItemID("new")
    }

    /// One of the spellings of an id that are one.
    func spelled(_ name: String) -> String {
        guard plan.hasSpellings else { return name }
        return other.pick([name, name.uppercased(), name + " "])
    }

    /// While a request for a row is in flight, another writer or a client writes the same row.
    func crowd(_ name: String) async throws {
        let proxy = random.pick(proxies)
        let kinds: [OperationKind] =
            switch other.next(below: 8) {
            case 0..<3: []
            case 3: [.update]
            case 4..<6: [.update, .delete]
            case 6: [.delete]
            default: [.update, .update, .delete, .undelete]
            }
        if kinds.isEmpty { return changeElsewhere("PATCH", name) }
        for kind in kinds { try await write(name, at: proxy, as: kind) }
    }

    /// Inserts a row that the store does not have, or undeletes it.
    private func absentRow(
        _ name: String, _ id: ItemID, _ rows: [String: Item], _ kind: OperationKind?
    ) throws -> Intention {
        var intended: ValueHistory.Row = [:]
        if names.contains(name), kind == .undelete || random.happens(0.4) {
            return Intention(action: .undelete(id), verb: "undelete", intended: intended)
        }
        for column in columns(of: name) {
            let isSet = column == "p" && nextParent != nil || random.happens(0.7)
            intended[column] =
                isSet
                ? value(column, of: name, among: rows, isRefusable: true) : ValueHistory.null
        }
        var body = ItemBody(id: id, columns: columns(intended))
        if plan.hasIntegerIDs(table(of: name)) {
            body.id = nil
            body.columns["t"] = .string(name)
        }
        return Intention(action: .insert(body), verb: "insert", intended: intended)
    }

    /// Changes a row that the store has.
    private func change(
        _ name: String, _ id: ItemID, _ row: ValueHistory.Row, _ rows: [String: Item],
        _ kind: OperationKind?
    ) throws -> Intention {
        var intended: ValueHistory.Row = [:]
        let names = columns(of: name)
        let draw: UInt64 =
            switch kind {
            case .update: 0
            case .delete: 9
            default: random.next(below: 10)
            }
        switch draw {
        case 0..<6:
            for _ in 0...random.next(below: 2) {
                let column = random.pick(names)
                intended[column] =
                    random.happens(0.1)
                    ? ValueHistory.null
                    : value(column, of: name, among: rows, isRefusable: true)
            }
            return Intention(
                action: .update(id, columns(intended, withNull: true)), verb: "patch",
                intended: intended)
        case 6..<8:
            // The client's row with one column changed, and sometimes one left out.
            var whole = row
            whole[ValueHistory.deleted] = nil
            let changed = random.pick(names)
            whole[changed] = value(changed, of: name, among: rows, isRefusable: true)
            intended[changed] = whole[changed]
            let others = names.filter { $0 != changed && whole[$0] != nil }
            if random.happens(0.3), let left = others.first {
                whole[left] = nil
                intended[left] = ValueHistory.null
            }
            return Intention(
                action: .replace(id, columns(whole)), verb: "put", intended: intended)
        default:
            intended[ValueHistory.deleted] = "true"
            let isPatch = random.happens(0.2)
            return Intention(
                action: isPatch ? .patch(id, Columns(), deleted: true) : .delete(id),
                verb: "delete", intended: intended, generation: isPatch ? .datasync : nil)
        }
    }

    func columns(_ row: ValueHistory.Row, withNull: Bool = false) -> Columns {
        let names = row.keys.sorted().filter { $0 != ValueHistory.deleted }
        let text = names.compactMap { name -> String? in
            guard let value = row[name], withNull || value != ValueHistory.null else { return nil }
            return "\"\(name)\":\(value)"
        }
        return Columns(stored: "{\(text.joined(separator: ","))}")
    }

    // MARK: Conditions

    /// The condition of a write, the row that its client knows, and what the store must do.
    private struct Condition {
        var ifMatch: IfMatch
        var shown: ValueHistory.Row
        /// Whether the write must be taken or refused; nil where it may be either.
        var isTaken: Bool?
        var why = ""
    }

    /// None, the present version, one that the client holds from a write of its own, the backend's, or that of
    /// another row.
    private func condition(
        for name: String, _ present: Item?, _ row: ValueHistory.Row, at proxy: SharedRowsProxy
    ) async throws -> Condition {
        guard let present else { return Condition(ifMatch: .absent, shown: row) }
        let isPresent = Condition(ifMatch: .versions([present.version]), shown: row)
        // Beside a read, a page may be applied between the client's read and its write.
        if isBesideRead { return isPresent }
        let own = (held[name] ?? []).filter { $0.proxy == proxy.number }
        switch random.next(below: 20) {
        case 0..<4: return isPresent
        case 4..<7:
            guard let one = own.last else { return isPresent }
            return judged(one, name, row)
        case 7:
            guard let one = own.dropLast().last else { return isPresent }
            return judged(one, name, row)
        case 8:
            let others = held.filter { $0.key != name }.values.joined()
            guard let other = others.map(\.version).sorted().first else { return isPresent }
            return Condition(
                ifMatch: .versions([other]), shown: row, isTaken: false,
                why: "with the version of another row")
        default: return Condition(ifMatch: .absent, shown: row)
        }
    }

    /// The version of a client's own write stays good while only scripts have changed columns that it did not
    /// send. It is not good when a column that it sent has another value.
    private func judged(
        _ one: HeldVersion, _ name: String, _ row: ValueHistory.Row
    ) -> Condition {
        let differing = Set(row.keys).union(one.row.keys).filter { row[$0] != one.row[$0] }
        let rewritten = differing.filter { row[$0] != one.row[$0].map(plan.stored) }
        var condition = Condition(ifMatch: .versions([one.version]), shown: one.row)
        let isUnseen = one.changes == changes[name, default: 0]
        if !rewritten.isDisjoint(with: one.sent) {
            condition.isTaken = false
            condition.why = "with its version from before \(differing.sorted()) changed"
        } else if isUnseen, !one.isWhole, plan.hasVersions,
            differing.isSubset(of: plan.scriptedColumns)
        {
            condition.isTaken = true
            condition.why =
                "with the version of its own write, after which \(differing.sorted()) changed"
        }
        return condition
    }

    private func judge(_ condition: Condition, _ outcome: WriteOutcome, _ name: String) throws {
        let isRefused = if case .preconditionFailed = outcome { true } else { false }
        switch condition.isTaken {
        case true? where isRefused: fault("\(name): a write was refused \(condition.why)", name)
        case false? where outcome.isSuccess:
            fault("\(name): a write was taken \(condition.why)", name)
        case true?, false?, nil: break
        }
    }

    /// Keeps what a client knows after a write was taken.
    private func remember(
        _ outcome: WriteOutcome, _ name: String, _ intention: Intention, at proxy: SharedRowsProxy
    ) {
        if !names.contains(name) { names.append(name) }
        // Every other client that holds a version sees this as another's change.
        changes[name, default: 0] += 1
        switch outcome {
        case .inserted(let item, _), .updated(let item, _), .undeleted(let item, _):
            judge(item, name)
            // A whole row does not send the columns that it leaves out.
            let sent = intention.intended.filter {
                !["insert", "put"].contains(intention.verb) || $0.value != ValueHistory.null
            }
            held[name, default: []].append(
                HeldVersion(
                    proxy: proxy.number, version: item.version, row: ValueHistory.row(item),
                    sent: Set(sent.keys), isWhole: replaced.contains(name),
                    changes: changes[name, default: 0]))
            if plan.hasIntegerIDs(table(of: name)), intention.verb == "insert" {
                provisional.append((proxy.number, item.id, name))
            }
        case .deleted(let item, _):
            judge(item, name)
            held[name] = nil
        case .missing, .gone, .preconditionFailed, .alreadyExists, .unknownWhilePartial,
            .tableNotAllowed, .invalid, .storageFull, .readOnly, .busy, .failed:
            break
        }
    }

    private func judge(_ item: Item, _ name: String) {
        let shown = plan.name(of: item, in: table(of: name))
        if shown != name { fault("a write of \(name) was answered with \(shown)", name) }
    }

    /// The id in the answer to an insert leads only to its own row, also after the row is gone.
    func checkProvisionalIDs(_ proxy: SharedRowsProxy) async throws {
        let rows = try await proxy.stored()
        for one in provisional where one.proxy == proxy.number {
            let change = Columns([Columns.Column(random.pick(Self.columns), .string("stray"))])
            // A change brings back a row whose delete was not sent.
            let row = rows[one.name]
            guard row?.isPending != true, row?.item.deleted != false else { continue }
            let outcome = await proxy.store.submit(
                LocalWrite(table: table(of: one.name), action: .update(one.id, change)))
            if outcome.isSuccess {
                fault(
                    "the id \(one.id) of \(one.name), which is gone, leads to another row", one.name
                )
            }
        }
    }
}
