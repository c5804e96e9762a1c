package import Backend
import PostgreSQL
import TablesProtocol

/// Announcements of changes between the nodes that share a database: `NOTIFY` right after the commit of a write.
/// In its transaction, commits of all tables would wait for one another (docs/decisions/site.md).
///
/// The channel has the schema's name.
enum PostgreSQLChanges {
    /// Announces the changes of a table. Equal ones are one.
    /// - Parameter owners: for each write, the user whose rows alone it changed, or nil.
    static func announce(
        _ connection: PostgreSQLConnection, _ record: TableRecord, owners: [String?]
    ) throws {
        let stamp = Instant(ticks: record.lastStamp)
        // PostgreSQL's texts have no U+0000. No token names such a user.
        let texts = Set(owners).filter { $0?.utf8.contains(0) != true }.map { owner in
            JSONValue.string(
                TableChange(table: record.table.name, stamp: stamp, owner: owner).announcement)
        }
        if texts.isEmpty { return }
        try connection.run(
            """
            SELECT pg_notify(current_schema()::text, text)
            FROM jsonb_array_elements_text($1::jsonb) AS text
            """, [.text(JSONValue.array(texts).text)])
    }

    /// The tables that have a stamp.
    static func tables(_ connection: PostgreSQLConnection) throws -> [TableChange] {
        try connection.run("SELECT name, last_stamp FROM tables WHERE last_stamp > 0").compactMap {
            row in
            let stamp = Instant(ticks: try row.integer(1))
            return TableName(try row.text(0)).map { TableChange(table: $0, stamp: stamp) }
        }
    }
}

extension PostgreSQLRowStorage {
    package func tellChanges(to receive: @escaping @Sendable (ChangeNews) -> Void) {
        pool.listen(
            to: schema,
            PostgreSQLListener.Events(
                isWanted: { [weak self] in self != nil },
                // What is committed after this look is heard, since the connection listens already.
                began: { receive(.tables(try PostgreSQLChanges.tables($0))) },
                heard: { receive(.changed($0.compactMap { TableChange(announcement: $0) })) },
                ended: { receive(.silent(reason: $0.description)) }))
    }
}
