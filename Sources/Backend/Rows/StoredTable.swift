package import TablesProtocol

/// A table as it is stored: its options and what was learnt from writes.
package struct StoredTable: Sendable, Hashable {
    /// Its name as first spelled.
    package var name: TableName
    /// The options of the table.
    package var options: TableOptions
    /// The columns seen in writes, after the declared ones, in order.
    package var seenColumns: [TableOptions.Column] = []

    package init(
        name: TableName, options: TableOptions, seenColumns: [TableOptions.Column] = []
    ) {
        (self.name, self.options, self.seenColumns) = (name, options, seenColumns)
    }

    /// Whether rows have an id and the user's columns only: integer-id tables of the first generation.
    package func isPlain(_ generation: Generation) -> Bool {
        options.idKind == .integer && generation == .mobileServices
    }

    /// All columns known.
    package var knownColumns: [TableOptions.Column] { options.columns + seenColumns }

    /// All columns known, by their names in lower case: two spellings name one column. Of two that are known,
    /// the later one counts, as in queries.
    package var columnsByKey: [ExactName: TableOptions.Column] {
        Dictionary(
            knownColumns.map { (ExactName(lowercasing: $0.name), $0) }, uniquingKeysWith: { $1 })
    }

    /// A column as the table spells it.
    package func spelling(_ column: String) -> String { spellings(column) }

    /// Gives each column as the table spells it, for callers that ask often.
    package var spellings: @Sendable (String) -> String {
        let known = columnsByKey
        return { known[ExactName(lowercasing: $0)]?.name ?? $0 }
    }

    /// Takes the columns that a write adds; those that are there stay.
    /// - Returns: false when one is there with another type or in another spelling.
    package mutating func add(_ columns: [TableOptions.Column]) -> Bool {
        if columns.isEmpty { return true }
        var known = columnsByKey
        for column in columns {
            let key = ExactName(lowercasing: column.name)
            if let old = known[key] {
                let isSame =
                    old.type == column.type && old.name.utf8.elementsEqual(column.name.utf8)
                guard isSame else { return false }
            } else {
                known[key] = column
                seenColumns.append(column)
            }
        }
        return true
    }
}

// Columns in the spellings that the table knows, which are those that queries ask for.
extension StoredTable {
    /// A row's columns in the known spellings. Where a row has two spellings of one column, both stay as they
    /// are, so that no value is lost.
    package func spelled(_ columns: Columns) -> Columns {
        let known = columnsByKey
        let all = columns.all
        let counts = Dictionary(
            all.map { (ExactName(lowercasing: $0.name), 1) }, uniquingKeysWith: +)
        return Columns(
            all.map { column in
                let key = ExactName(lowercasing: column.name)
                guard counts[key] == 1, let name = known[key]?.name else { return column }
                return Columns.Column(name, column.value)
            })
    }

    /// A row's columns after an update. A column that is set takes the place of all its spellings.
    package func merged(_ columns: Columns, with changes: Columns) -> Columns {
        var merged = spelled(columns)
        merged.merge(changes)
        let set = Dictionary(
            changes.all.map { (ExactName(lowercasing: $0.name), $0.name) },
            uniquingKeysWith: { $1 })
        return Columns(
            merged.all.filter { column in
                set[ExactName(lowercasing: column.name)]?.utf8.elementsEqual(column.name.utf8)
                    ?? true
            })
    }

    /// Learns the columns of a row that comes from another backend, however many there are. One whose name is
    /// too long for a write stays in its row alone.
    /// - Returns: the columns in the known spellings.
    package mutating func learn(_ columns: Columns) -> Columns {
        var known = columnsByKey
        for column in columns.all {
            let key = ExactName(lowercasing: column.name)
            guard known[key] == nil, !ColumnRules.isTooLong(column.name),
                let type = ColumnRules.type(column.value)
            else { continue }
            let new = TableOptions.Column(column.name, type)
            known[key] = new
            seenColumns.append(new)
        }
        return spelled(columns)
    }
}

extension BackendOptions.Stamps {
    /// The next `updatedAt` of a table.
    /// - Parameter last: the table's last one; nil when there was none.
    package func next(after last: Instant?, now: Instant) -> Instant {
        switch self {
        case .increasing, .none:
            guard let last else { return Instant(milliseconds: now.milliseconds) }
            return Instant(milliseconds: max(now.milliseconds, last.milliseconds + 1))
        case .ties(let step):
            let step = Int64(max(step, 1))
            return Instant(milliseconds: now.milliseconds / step * step)
        case .subMillisecond:
            return Instant(ticks: max(now.ticks, (last?.ticks ?? 0) + 1))
        }
    }
}

/// A table as a database holds it.
package struct TableRecord: Sendable {
    /// The key in the database.
    package var key: Int64
    /// The part of it that the serving part sees.
    package var table: StoredTable
    /// The last `updatedAt` given, in ticks; 0 for none.
    package var lastStamp: Int64
    /// The last integer id given.
    package var lastNumber: Int64
    /// What it no longer has of its past.
    package var forgotten: ForgottenPast
    /// The indexes that the operator has built for its lists.
    package var indexes: [IndexShape]

    package init(
        key: Int64, table: StoredTable, lastStamp: Int64, lastNumber: Int64,
        forgotten: ForgottenPast = ForgottenPast(), indexes: [IndexShape] = []
    ) {
        self.key = key
        self.table = table
        self.lastStamp = lastStamp
        self.lastNumber = lastNumber
        self.forgotten = forgotten
        self.indexes = indexes
    }

    /// Gives the next integer id.
    /// - Throws: a refusal where the table has no further one.
    package mutating func nextNumber() throws(Refusal) -> String {
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
    package mutating func nextStamp(_ write: Write) -> Instant {
        let last = lastStamp == 0 ? nil : Instant(ticks: lastStamp)
        let next = write.stamps.next(after: last, now: write.at)
        lastStamp = max(lastStamp, next.ticks)
        return next
    }
}

// Columns as both databases keep them.
extension TableRecord {
    /// Columns as a text: `[["text","string"]]`.
    package static func text(_ columns: [TableOptions.Column]) -> String {
        JSONValue.array(
            columns.map { .array([.string($0.name), .string($0.type.rawValue)]) }
        ).text
    }

    /// The columns of such a text.
    package static func columns(_ text: String) -> [TableOptions.Column] {
        let pairs = (try? JSONValue(parsing: text))?.array ?? []
        return pairs.compactMap { pair in
            guard let parts = pair.array, parts.count == 2, let name = parts[0].string,
                let type = parts[1].string.flatMap(TableOptions.ColumnType.init(rawValue:))
            else { return nil }
            return TableOptions.Column(name, type)
        }
    }
}
