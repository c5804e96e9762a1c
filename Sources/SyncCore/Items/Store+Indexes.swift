import Storage
public import TablesProtocol

extension Store {
    /// Stores what lists cost and which indexes they used, about once a minute. Writes nothing if there is
    /// nothing new.
    func noteCostlyLists() async throws(StoreError) {
        guard let notes = costlyLists.take() else { return }
        do {
            try await write(inBudget: true) { try TableIndexes($0).add(notes) }
        } catch {
            // A full store suggests no index.
            guard error.isFull else { throw error }
        }
    }

    /// Starts to build an index. ``tables()`` reports the progress. Writers wait for the build, readers do
    /// not.
    public func startIndex(
        _ name: TableName, _ choice: IndexChoice
    ) async throws(StoreError) -> IndexStart {
        let start = try await write { try TableIndexes($0).start(name, choice) }
        guard case .started(let id) = start else { return start }
        guard indexProgress.reserve(id) else { return .busy }
        writer.write(inBudget: true) {
            try self.build(id, $0)
        } completion: { result in
            self.indexProgress.end(id, problem: self.problem(result))
        }
        return start
    }

    /// Drops an index of a table.
    /// - Returns: false if the table has no such index.
    public func dropIndex(_ name: TableName, _ id: Int64) async throws(StoreError) -> Bool {
        let isDropped = try await write { transaction in
            guard let table = try transaction.tables.table(name) else { return false }
            return try TableIndexes(transaction).drop(id, of: table.id)
        }
        if isDropped { indexProgress.forget(id) }
        return isDropped
    }

    /// Builds one index, if enough of the disk budget stays free for other things.
    private func build(_ id: Int64, _ transaction: Transaction) throws -> IndexMaking {
        let making = try indexProgress.whileMaking(transaction.db) {
            try TableIndexes(transaction).build(id)
        }
        let isRoomLeft = try writer.budget?.hasFreePart(
            of: StoreLimits.budgetsFreeBesideIndexes, transaction.db)
        guard isRoomLeft ?? true else { throw StorageError.full }
        return making
    }

    /// Why an index was not built; nil if it was built, or was dropped meanwhile.
    private func problem(_ result: Result<IndexMaking, StorageError>) -> String? {
        switch result {
        case .success(.made), .success(.unknown): nil
        case .success(.tooMany):
            "The table has \(StoreLimits.indexesPerTable) indexes already: drop one first."
        case .failure(.full), .failure(.overBudget):
            writer.budget == nil
                ? "There is no room for it on the disk: make some, then build it again."
                : "The store has no room for it: raise --disk-budget, then build it again."
        case .failure(let error): StoreError(error).description
        }
    }
}
