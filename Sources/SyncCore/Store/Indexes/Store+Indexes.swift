import GRDB
public import TablesProtocol

extension Store {
    /// Takes the next step of learning, if there is one: called about once a minute.
    ///
    /// 1. What the readers noticed is added to what is known; nothing is written when there is nothing.
    /// 2. ``IndexAdvice`` says what to do, and that one thing is done: an index is dropped, or made in
    ///    a transaction of its own that writers wait for.
    /// 3. A shape for which there was no room must be wanted anew before it is tried again.
    /// - Returns: whether an index was made or dropped.
    func keepIndexes() async throws(StoreError) -> Bool {
        if let notes = watch.take() {
            do {
                try await write(inBudget: true) { try $0.learn(notes) }
            } catch {
                // A full store learns nothing more; what it has of indexes may still go.
                guard error.isFull else { throw error }
            }
        }
        let budget = budget
        let (shapes, tables, room) = try await read { transaction in
            let (shapes, tables) = try transaction.indexCounts()
            return (shapes, tables, try budget?.room(transaction.db) ?? .enough)
        }
        let now = clock.now()
        let advice = IndexAdvice.next(
            shapes, tables: tables, room: room,
            quiet: watch.lastChange.map { now.milliseconds - $0.milliseconds }, now: now)
        switch advice {
        case .nothing: return false
        case .drop(let id): return try await write { try $0.dropIndex(id) }
        case .make(let id):
            switch try await make(id) {
            case .made: return true
            case .tooMany, .noRoom, .unknown: return false
            }
        }
    }

    /// Begins to make an index because a person says so, however large the table is; ``tables()``
    /// tells how far it is. Writers wait for it.
    public func startIndex(
        _ name: TableName, _ choice: IndexChoice
    ) async throws(StoreError) -> IndexStart {
        let start = try await write { try $0.indexStart(name, choice) }
        guard case .started(let id) = start else { return start }
        guard indexProgress.reserve(id) else { return .busy }
        Task {
            do {
                indexProgress.end(id, problem: problem(try await make(id)))
            } catch {
                indexProgress.end(id, problem: "\(error)")
            }
        }
        return start
    }

    /// Drops one index of a table; false when the table has none of that number.
    public func dropIndex(_ name: TableName, _ id: Int64) async throws(StoreError) -> Bool {
        let isDropped = try await write { transaction in
            guard let table = try transaction.table(name),
                try transaction.indexStatuses(of: table.id).contains(where: { $0.id == id })
            else { return false }
            return try transaction.dropIndex(id)
        }
        if isDropped { indexProgress.forget(id) }
        return isDropped
    }

    /// Makes one index. It takes no room that was kept for other things. Whatever keeps it from being
    /// made, its shape must be wanted anew before it is tried again: each try holds writers up.
    private func make(_ id: Int64) async throws(StoreError) -> IndexMaking {
        let (budget, progress) = (budget, indexProgress)
        do {
            return try await write(inBudget: true) { transaction in
                let making = try progress.whileMaking(transaction.db) {
                    try transaction.makeIndex(id)
                }
                switch try budget?.room(transaction.db) ?? .enough {
                case .enough: return making
                case .noneForIndexes, .hardlyAny: throw StoreError.full("No room for an index.")
                }
            }
        } catch {
            try await write { try $0.forgetCounts(ofIndex: id) }
            guard error.isFull else { throw error }
            return .noRoom
        }
    }

    /// Why an index was not made, for whoever wanted it; nil when it is there or was dropped meanwhile.
    private func problem(_ making: IndexMaking) -> String? {
        switch making {
        case .made, .unknown: nil
        case .tooMany:
            "The table has \(StoreLimits.indexesPerTable) indexes already: drop one first."
        case .noRoom where budget == nil:
            "There is no room for it on the disk: make some, then build it again."
        case .noRoom: "The store has no room for it: raise --disk-budget, then build it again."
        }
    }
}

extension Transaction {
    /// What becomes of the wish to make an index.
    fileprivate func indexStart(_ name: TableName, _ choice: IndexChoice) throws -> IndexStart {
        guard let table = try table(name) else { return .unknownTable }
        let isFull = table.indexes.count >= StoreLimits.indexesPerTable
        switch choice {
        case .known(let id):
            let known = try indexStatuses(of: table.id).first { $0.id == id }
            guard let known else { return .unknownIndex }
            if known.builtAt != nil { return .present(id) }
            return isFull ? .tooMany : .started(id)
        case .query(let query):
            let shape = query.indexShape { table.spellings.spelling(of: $0) }
            guard let shape else { return .notServed }
            if let built = table.indexes.first(where: { $0.shape == shape }) {
                return .present(built.id)
            }
            guard !isFull, let id = try indexRow(shape, of: table.id) else { return .tooMany }
            return .started(id)
        }
    }
}
