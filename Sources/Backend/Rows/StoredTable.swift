import TablesProtocol

/// A table as it is stored: its options and what was learnt from writes.
package struct StoredTable: Sendable, Hashable {
    /// Its name as first spelled.
    var name: TableName
    /// What it is like.
    var options: TableOptions
    /// The columns seen in writes, after the declared ones, in order.
    var seenColumns: [TableOptions.Column] = []

    /// Whether rows have an id and the user's columns only: integer-id tables of the first generation.
    func isPlain(_ generation: Generation) -> Bool {
        options.idKind == .integer && generation == .mobileServices
    }

    /// All columns known.
    var knownColumns: [TableOptions.Column] { options.columns + seenColumns }

    /// Takes the columns that a write adds; those that are there stay.
    /// - Returns: false when one is there with another type.
    mutating func add(_ columns: [TableOptions.Column]) -> Bool {
        for column in columns {
            let name = column.name.lowercased()
            if let known = knownColumns.first(where: { $0.name.lowercased() == name }) {
                guard known.type == column.type else { return false }
            } else {
                seenColumns.append(column)
            }
        }
        return true
    }
}

extension BackendOptions.Stamps {
    /// The next `updatedAt` of a table.
    /// - Parameter last: the table's last one; nil when there was none.
    func next(after last: Instant?, now: Instant) -> Instant {
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
