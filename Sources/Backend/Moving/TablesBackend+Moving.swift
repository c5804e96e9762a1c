public import TablesProtocol

/// Why rows of another backend cannot be taken: a sentence.
public struct MoveProblem: Error, Sendable, Hashable, CustomStringConvertible {
    /// The sentence.
    public let description: String
}

// Moving in: rows of another backend.
extension TablesBackend {
    /// Takes rows of another backend, each as it was there, in one transaction. The same call again changes
    /// nothing.
    ///
    /// - Parameters:
    ///   - rows: at most some hundred, since the table is locked meanwhile.
    ///   - table: where to; it is made with its first rows.
    ///   - idKind: what its ids are at the other backend.
    ///   - source: where the rows come from.
    ///   - isInUse: whether clients sync with the table already. A table that clients have written to is
    ///     taken so in any case. Its rows get new stamps, since a client asks for later ones alone.
    /// - Returns: what came of each row.
    /// - Throws: ``MoveProblem`` where the table has ids of another kind, or the storage's error.
    public func move(
        _ rows: [MovedRow], into table: TableName, idKind: IDKind, from source: MoveSource,
        isInUse: Bool
    ) async throws -> [MoveOutcome] {
        let move = Move(at: clock(), source: source, isInUse: isInUse)
        return try await apart { storage in
            try Self.check(idKind, table, storage)
            return try storage.move(rows, into: table, creating: TableOptions(idKind: idKind), move)
        }
    }

    /// What ``move(_:into:idKind:from:isInUse:)`` would do, after what it would have done before.
    public func rehearse(
        _ rows: [MovedRow], into table: TableName, idKind: IDKind, from source: MoveSource,
        _ rehearsal: inout MoveRehearsal
    ) async throws -> [MoveOutcome] {
        let ids = rows.map(\.itemID)
        let standings = try await apart { storage in
            try Self.check(idKind, table, storage)
            return try storage.standing(of: ids, in: table)
        }
        return rows.map {
            rehearsal.take($0, of: table, over: standings[$0.itemID] ?? Standing(), from: source)
        }
    }

    private static func check(
        _ kind: IDKind, _ table: TableName, _ storage: any RowStorage
    ) throws {
        guard let known = try storage.table(table)?.options.idKind, known != kind else { return }
        let words: [IDKind: String] = [.string: "texts", .integer: "integers"]
        throw MoveProblem(
            description:
                "The ids of the table \(table) are \(words[known] ?? "") here and "
                + "\(words[kind] ?? "") there.")
    }

    /// A page of the rows, tombstones too, in the order of the ids' bytes. A row that came from another backend
    /// and that no client has changed has the stamp that it had there.
    public func storedRows(
        in table: TableName, after id: String, limit: Int
    ) async throws -> [MovedRow] {
        try await apart { storage in
            let rows = try storage.rows(in: table, after: id, limit: limit)
            let ids = rows.map { ItemID(stored: $0.id, kind: .string) }
            let standings = try storage.standing(of: ids, in: table)
            return zip(rows, ids).map { row, id in
                let standing = Standing(row: row, arrival: standings[id]?.arrival)
                let own = standing.isUntouched ? standing.arrival?.updatedAt : nil
                return MovedRow(
                    id: row.id, columns: row.columns, createdAt: row.createdAt,
                    updatedAt: own ?? row.updatedAt, version: row.version, deleted: row.deleted)
            }
        }
    }
}

/// What a move that is only tried would have written so far.
public struct MoveRehearsal: Sendable {
    private struct Place: Hashable {
        let table: String
        let id: ItemID
    }
    private var standings: [Place: Standing] = [:]

    /// Nothing was tried yet.
    public init() {}

    mutating func take(
        _ row: MovedRow, of table: TableName, over stored: Standing, from source: MoveSource
    ) -> MoveOutcome {
        let place = Place(table: table.key, id: row.itemID)
        let standing = standings[place] ?? stored
        let outcome = MoveOutcome.decide(row, over: standing, from: source)
        if outcome.isWritten { standings[place] = Standing(moved: row) }
        return outcome
    }
}
