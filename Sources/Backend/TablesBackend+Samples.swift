import GRDB
import HTTPMessage
import HTTPTypes
import TablesProtocol

extension TablesBackend {
    /// Inserts a dozen todos into the table `todoitem`; does nothing when it has rows already. The
    /// inserts count as effects like any other client's.
    ///
    /// - Returns: how many were added.
    /// - Throws: GRDB's error when the database cannot be written.
    @available(*, noasync)
    @discardableResult
    public func seedSampleTodos() throws -> Int {
        guard let name = TableName("todoitem") else { return 0 }
        return try database.write { database in
            guard try Items.all(database, name).isEmpty else { return 0 }
            var added = 0
            for columns in SampleTodos.columns(at: clock()) {
                let head = HTTPRequest(
                    method: .post, scheme: nil, authority: nil, path: "/tables/todoitem",
                    headerFields: [.contentType: "application/json"])
                let call = Call(Request(head: head, body: Array(columns.text.utf8)))
                if case .inserted = try exchange(database, call).outcome() { added += 1 }
            }
            return added
        }
    }
}
