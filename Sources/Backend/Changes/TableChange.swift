package import TablesProtocol

/// A change of a table, without any row.
package struct TableChange: Sendable, Hashable {
    /// The table.
    package var table: TableName
    /// The table's latest `updatedAt`; nil where that is not told.
    package var stamp: Instant?
    /// The user whose rows alone have changed; nil for those of all.
    package var owner: String?

    package init(table: TableName, stamp: Instant?, owner: String? = nil) {
        (self.table, self.stamp, self.owner) = (table, stamp, owner)
    }

    /// The change as an announcement between nodes: `TICKS TABLE`, or `TICKS TABLE OWNER`.
    package var announcement: String {
        "\(stamp?.ticks ?? 0) \(table.text)" + (owner.map { " \($0)" } ?? "")
    }

    /// Reads an announcement; nil for any other text.
    package init?(announcement: String) {
        let parts = announcement.split(
            separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count >= 2, let ticks = Int64(parts[0]),
            (Instant.earliest.ticks...Instant.latest.ticks).contains(ticks),
            let table = TableName(String(parts[1]))
        else { return nil }
        self.init(
            table: table, stamp: ticks == 0 ? nil : Instant(ticks: ticks),
            owner: parts.count > 2 ? String(parts[2]) : nil)
    }

    /// Changes without those that a later one of the same table and owner tells too. Each stands where the last
    /// one stood.
    static func latest(_ changes: [TableChange]) -> [TableChange] {
        struct Key: Hashable {
            let table: TableName
            let owner: String?
        }
        var seen: Set<Key> = []
        return changes.reversed().filter {
            seen.insert(Key(table: $0.table, owner: $0.owner)).inserted
        }.reversed()
    }
}

/// What a storage tells of changes.
package enum ChangeNews: Sendable, Hashable {
    /// All tables that have rows, as they are. Changes before this may not have been told.
    case tables([TableChange])
    /// What was committed, in the order of commits of each table.
    case changed([TableChange])
    /// Changes are not told for now; the reason is a sentence, which may name hosts.
    case silent(reason: String)
}

/// What a follower may be told.
struct ChangeReader: Sendable, Hashable {
    /// The user's id; nil for an anonymous request.
    var user: String?
    /// When the user's token ends; nil where it does not.
    var endsAt: Instant?
}
