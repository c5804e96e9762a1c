import TablesProtocol

/// A table as a database holds it.
struct TableRecord: Sendable {
    /// The key in the database.
    var key: Int64
    /// The part of it that the serving part sees.
    var table: StoredTable
    /// The last `updatedAt` given, in ticks; 0 for none.
    var lastStamp: Int64
    /// The last integer id given.
    var lastNumber: Int64

    /// Gives the next integer id.
    /// - Throws: a refusal where the table has no further one.
    mutating func nextNumber() throws(Refusal) -> String {
        guard lastNumber < Limits.numberedID else {
            throw Refusal(
                400,
                "The table has an item with the greatest integer id, so it takes no new one. Move its "
                    + "items into a table with string ids.")
        }
        lastNumber += 1
        return String(lastNumber)
    }

    /// Gives the next `updatedAt`.
    mutating func nextStamp(_ write: Write) -> Instant {
        let last = lastStamp == 0 ? nil : Instant(ticks: lastStamp)
        let next = write.stamps.next(after: last, now: write.at)
        lastStamp = max(lastStamp, next.ticks)
        return next
    }
}

// Columns as both databases keep them.
extension TableRecord {
    /// Columns as a text: `[["text","string"]]`.
    static func text(_ columns: [TableOptions.Column]) -> String {
        JSONValue.array(
            columns.map { .array([.string($0.name), .string($0.type.rawValue)]) }
        ).text
    }

    /// The columns of such a text.
    static func columns(_ text: String) -> [TableOptions.Column] {
        let pairs = (try? JSONValue(parsing: text))?.array ?? []
        return pairs.compactMap { pair in
            guard let parts = pair.array, parts.count == 2, let name = parts[0].string,
                let type = parts[1].string.flatMap(TableOptions.ColumnType.init(rawValue:))
            else { return nil }
            return TableOptions.Column(name, type)
        }
    }
}
