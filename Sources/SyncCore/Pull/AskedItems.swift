import TablesProtocol

/// Asks the backend for single items by their ids, and takes what it gives.
///
/// An item that it does not give has left the part of its table: only an empty list proves that, because a page may
/// be cut, and a list with other rows has ignored the filter. Where the whole table is copied, an item is gone only
/// if the backend says 404 or 410 too when it is asked for it by its id: anything may answer with an empty list.
struct AskedItems: Sendable {
    let pass: PullPass
    var end: PullEnd
    /// Whether the items differed in a comparison.
    var compares = false
    /// What a comparison found.
    private(set) var drift = CopyDrift()
    /// How many rows were so much older than here that a comparison did not take them.
    private(set) var older = 0
    /// Whether nothing else has to be done first.
    var mayGoOn: @Sendable () async -> Bool = { true }
    /// The most ids in one request.
    private var most = SyncLimits.doubtsAsked
    private var store: Store { pass.store }
    private var name: TableName { pass.request.table }

    init(pass: PullPass, end: PullEnd) { (self.pass, self.end) = (pass, end) }

    func goesOn() async -> Bool {
        if pass.cancel.isSet { return false }
        return await mayGoOn()
    }

    /// Asks for the items in doubt.
    mutating func askDoubts() async throws(StoreError) {
        let (name, store) = (name, store)
        try await store.write { transaction in
            guard let table = try transaction.tables.table(name) else { return }
            try transaction.doubts.forgetDeleted(of: table)
        }
        _ = try await askAll { last, most throws(StoreError) in
            try await store.read { transaction -> [ItemID] in
                guard let table = try transaction.tables.table(name) else { return [] }
                return try transaction.doubts.next(of: table, after: last, limit: most)
            }
        }
    }

    /// Asks for items that may not be here.
    /// - Returns: whether the backend has answered for each.
    mutating func ask(for ids: [ItemID]) async throws(StoreError) -> Bool {
        var rest = ids.sorted { $0.text < $1.text }[...]
        return try await askAll { last, most throws(StoreError) in
            rest = rest.drop { $0.text <= last }
            return PartDoubts.first(Array(rest.prefix(most)))
        }
    }

    /// Asks for items, some at a time, until there are none behind the last one.
    private mutating func askAll(
        _ next: (_ last: String, _ most: Int) async throws(StoreError) -> [ItemID]
    ) async throws(StoreError) -> Bool {
        var last = ""
        while await goesOn() {
            let ids = try await next(last, most)
            guard let id = ids.last else { return true }
            if try await ask(ids) {
                last = id.text
            } else if most > 1, end.report.error == nil {
                most = 1
            } else {
                break
            }
        }
        return false
    }

    /// What the rows of one answer changed.
    private struct Taken: Sendable {
        var effects: [AppliedRow: Int] = [:]
        var drift: CopyDrift
        var older = 0
    }

    /// Asks for items until the backend has none of the others.
    /// - Returns: false if it gave no such list, with the error unless fewer ids may be taken.
    private mutating func ask(_ ids: [ItemID]) async throws(StoreError) -> Bool {
        let (name, request, compares) = (name, pass.request, compares)
        let generation = pass.remote.generation
        var open = ids
        while !open.isEmpty {
            let change = try await store.read { try $0.counters.changeCount() }
            end.report.requests += 1
            let answer = await pass.remote.list(name, Self.query(open, in: request.wanted))
            guard case .rows(let page) = answer else {
                if !answer.mayBeOfQuery || ids.count == 1 && !compares { try await fail(answer) }
                return false
            }
            let asked = open
            let ignoresFilter = page.elements.contains { element in
                !asked.contains { id in element.itemID.map { id.isLike($0) } ?? false }
            }
            if ignoresFilter {
                try await noteOthers()
                return false
            }
            guard let gone = page.elements.isEmpty ? try await missing(asked) : [] else {
                return false
            }
            let found = drift
            let taken = try await store.write { transaction in
                var taken = Taken(drift: found)
                guard let table = try transaction.tables.table(name) else { return taken }
                let start = try transaction.tokens.token(table, of: request).start?.instant
                for element in page.elements {
                    let known = try element.itemID.flatMap {
                        try transaction.items.row(table, exactly: $0)
                    }
                    if compares, known?.isOutdated(by: element) == true {
                        taken.older += 1
                        continue
                    }
                    let effect = try PulledRows(transaction: transaction).take(
                        element, to: table, asOf: change)
                    taken.effects[effect, default: 0] += 1
                    if !element.isLater(than: start) {
                        taken.drift.add(effect, wasHere: known?.deleted == false)
                    }
                }
                let given = asked.filter { id in
                    page.elements.contains { $0.itemID.map { id.isLike($0) } ?? false }
                }
                let isAnswered = page.elements.isEmpty ? Set(asked).subtracting(gone) : Set(given)
                try transaction.doubts.release(isAnswered.map(\.text), of: table)
                for id in gone {
                    let before = try transaction.items.row(table, exactly: id)?.columns
                    guard
                        try transaction.doubts.leave(id, of: table, asOf: change, for: generation)
                    else { continue }
                    taken.effects[.deleted, default: 0] += 1
                    taken.drift.gone += 1
                    guard compares else { continue }
                    try transaction.history.record(
                        .pulled, actor: .engine, tableID: table.id, item: id, before: before,
                        summary: "The backend no longer "
                            + (table.part == nil ? "has it" : "gives it in the table's part")
                            + ", so it was removed here.")
                }
                if taken.effects.haveChanged {
                    transaction.events.emit(.item, table: table.name)
                }
                return taken
            }
            end.report.received += page.elements.count
            end.report.add(taken.effects)
            drift = taken.drift
            older += taken.older
            if page.elements.isEmpty, request.part != nil { try await refresh(asked) }
            open.removeAll { id in
                page.elements.isEmpty
                    || page.elements.contains { $0.itemID.map { id.isLike($0) } ?? false }
            }
        }
        return true
    }

    /// Those of the items in no list that the backend does not have when it is asked for them by their ids; all of
    /// them if the table is copied in part: the backend also gives a row by its id that has left the part.
    /// - Returns: nil if it cannot be asked now.
    private mutating func missing(_ ids: [ItemID]) async throws(StoreError) -> [ItemID]? {
        if pass.request.part != nil { return ids }
        var missing: [ItemID] = []
        for id in ids {
            guard await goesOn() else { return nil }
            end.report.requests += 1
            let answer = await pass.remote.row(id, in: name)
            if answer.isAbsence { missing.append(id) }
            if answer.isFailure, !answer.mayBeOfQuery {
                try await fail(answer)
                return nil
            }
        }
        return missing
    }

    /// Takes the present rows of items that have left the part and are here for another query of the developer's
    /// or a client's own pairs: such a query may not ask for them again soon.
    private mutating func refresh(_ ids: [ItemID]) async throws(StoreError) {
        let name = name
        let (kept, change) = try await store.read { transaction -> ([ItemID], Int64) in
            let change = try transaction.counters.changeCount()
            guard let table = try transaction.tables.table(name) else { return ([], change) }
            return (try ids.filter { try transaction.tokens.isMember($0.text, in: table) }, change)
        }
        guard !kept.isEmpty else { return }
        end.report.requests += 1
        guard
            case .rows(let page) = await pass.remote.list(name, Self.query(kept, in: PullQuery()))
        else { return }
        try await store.write { transaction in
            guard let table = try transaction.tables.table(name) else { return }
            for element in page.elements
            where kept.contains(where: { id in element.itemID.map { id.isLike($0) } ?? false }) {
                _ = try PulledRows(transaction: transaction).take(
                    element, to: table, asOf: change)
            }
            transaction.events.emit(.item, table: table.name)
        }
    }

    /// The rows of a query that have one of the ids, deleted or not.
    private static func query(_ ids: [ItemID], in rows: PullQuery) -> PageQuery {
        let comparisons = ids.map { Expression.binary(.equal, .column(.id), .literal(.id($0))) }
        let all = [rows.filter, Expression.joined(.or, comparisons)].compactMap(\.self)
        return PageQuery(
            TableQuery(filter: Expression.joined(.and, all), includeDeleted: true),
            parameters: rows.parameters)
    }

    /// Records why an answer is of no use. That ends the pass.
    mutating func fail(_ answer: RemoteAnswer) async throws(StoreError) {
        let failure = Prover.failure(answer, name)
        if end.fail(failure) { try await pass.noteFailure(failure.reason, canBeListed: false) }
    }

    /// Warns that the backend ignores the filter, so that no item is known to have left the part.
    private func noteOthers() async throws(StoreError) {
        let name = name
        try await store.write { transaction in
            guard var table = try transaction.tables.table(name), table.part != nil,
                table.warning?.contains(TablePart.othersCame) != true
            else { return }
            table.warning = [table.warning, TablePart.othersCame].compactMap(\.self)
                .joined(separator: " ")
            try transaction.tables.save(table)
        }
    }
}

extension ListElement {
    /// Whether the next pull that begins at a time would bring it.
    fileprivate func isLater(than start: Instant?) -> Bool {
        guard let start, let time = updatedAt.flatMap({ Instant(iso: $0) }) else { return false }
        return time >= start
    }
}

extension ItemRow {
    /// Whether a row of the backend is so much older than the one that it gave before that no clock can be the reason.
    fileprivate func isOutdated(by element: ListElement) -> Bool {
        guard let theirs = element.updatedAt.flatMap({ Instant(parsing: $0) }),
            let known = serverUpdatedAt.flatMap({ Instant(parsing: $0) })
        else { return false }
        return theirs.advanced(by: .seconds(SyncLimits.restoredSeconds)) < known
    }
}
