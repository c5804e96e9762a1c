import HTTPTypes
import Storage
import TablesProtocol

// What a backup may hold that another hand has changed. The rows are in the present version by now.
extension Transaction {
    /// Refuses values that the readers of this store cannot read, and ids that no item can have: they
    /// would become part of a path that is asked of the backend.
    /// - Throws: ``StoreError`` with the sentence that says what is wrong.
    func refuseForeignValues() throws {
        // What an import brings has ids of another store, and no undo sends it.
        let ids: [Bool] = try all(
            """
            SELECT item_id FROM operations
            UNION ALL SELECT item_id FROM undo_points
            UNION ALL SELECT copy_id FROM undo_points WHERE copy_id IS NOT NULL
            UNION ALL SELECT alias FROM aliases UNION ALL SELECT id FROM aliases
            UNION ALL SELECT item_id FROM history WHERE undoable = 1 AND item_id IS NOT NULL
            """
        ) { row -> Bool? in (try? ItemID(row[0] as String)) == nil ? true : nil }
        guard ids.isEmpty else {
            throw StoreError.damaged("An operation has an id that no item can have.")
        }
        let operations: [Bool] = try all(
            """
            SELECT kind, state, generation FROM operations
            UNION SELECT kind, state, generation FROM undo_points
            """
        ) { row -> Bool? in
            let isReadable =
                OperationKind(rawValue: row[0]) != nil && OperationState(rawValue: row[1]) != nil
                && Generation(rawValue: row[2]) != nil
            return isReadable ? nil : true
        }
        guard operations.isEmpty else {
            throw StoreError.damaged(
                "An operation has a kind, state or generation that no operation can have.")
        }
        let actors: [Bool] = try all(
            """
            SELECT actor FROM operations UNION SELECT actor FROM undo_points
            UNION SELECT actor FROM history
            """
        ) { row -> Bool? in Actor(rawValue: row[0]) == nil ? true : nil }
        guard actors.isEmpty else {
            throw StoreError.damaged("An entry of history has an actor that no entry can have.")
        }
        let kinds: [Bool] = try all("SELECT DISTINCT kind FROM history") { row -> Bool? in
            HistoryEntry.Kind(rawValue: row[0]) == nil ? true : nil
        }
        guard kinds.isEmpty else {
            throw StoreError.damaged("An entry of history has a kind that no entry can have.")
        }
    }

    /// Keeps those header fields of operations that clients may have sent on (``ForwardableName``), so
    /// that no other is sent to the backend: none that signs in, none of the connection.
    func keepForwardableHeaders() throws {
        for table in ["operations", "undo_points"] {
            let changed: [(Int64, String)] = try all(
                "SELECT rowid, headers FROM \(table) WHERE headers <> '[]'"
            ) { row -> (Int64, String)? in
                let text: String = row[1]
                let kept = HTTPFields(stored: text).forwardable.stored
                if kept == text { return nil }
                return (row[0] as Int64, kept)
            }
            for (number, headers) in changed {
                try run("UPDATE \(table) SET headers = ? WHERE rowid = ?", [headers, number])
            }
        }
    }
}

extension HTTPFields {
    /// Those whose names clients may have sent on, in their order.
    fileprivate var forwardable: HTTPFields {
        var kept = HTTPFields()
        for field in self where ForwardableName(field.name.rawName) != nil { kept.append(field) }
        return kept
    }
}
