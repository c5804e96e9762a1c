import HTTPMessage
import HTTPTypes
import TablesProtocol

/// The todos that the demo begins with.
enum SampleTodos {
    /// A todo whose dates are days from now.
    struct Todo: Sendable {
        var text: String
        var complete = false
        var dueInDays: Int64?
        var notes: String?
        var priority = 2
    }

    /// The todos as columns.
    static func columns(at now: Instant) -> [Columns] {
        todos.map { todo in
            let due = todo.dueInDays.map { days in
                JSONText.string(Instant(milliseconds: now.milliseconds + days * 86_400_000).text)
            }
            return Columns([
                Columns.Column("text", .string(todo.text)),
                Columns.Column("complete", .bool(todo.complete)),
                Columns.Column("dueAt", due ?? .null),
                Columns.Column("notes", todo.notes.map(JSONText.string) ?? .null),
                Columns.Column("priority", .integer(Int64(todo.priority))),
            ])
        }
    }

    private static let todos: [Todo] = [
        Todo(text: "Renew the passport", dueInDays: 21, notes: "Photos are in the blue folder"),
        Todo(text: "Water the tomatoes", dueInDays: 0, notes: "Not the leaves", priority: 1),
        Todo(text: "Send the invoice for October", complete: true, dueInDays: -9),
        Todo(text: "Call the dentist", dueInDays: 2, priority: 1),
        Todo(text: "Book the ferry for the summer", dueInDays: 60, priority: 3),
        Todo(text: "Return “The Left Hand of Darkness” to the library", dueInDays: 5),
        Todo(text: "Buy coffee, oats and lemons", complete: true, dueInDays: -1),
        Todo(text: "Fix the squeaking kitchen door", notes: "Oil is in the cellar", priority: 3),
        Todo(text: "Write to Amélie about the concert", dueInDays: 7),
        Todo(text: "Back up the photos of 2025", priority: 1),
        Todo(text: "Measure the window for new curtains", complete: true),
        Todo(text: "Plan the retrospective", dueInDays: 4, notes: "One hour, ask for topics first"),
    ]
}

extension TablesBackend {
    /// Inserts a dozen todos into the table `todoitem`; does nothing when it has rows already. The
    /// inserts count as effects like any other client's.
    ///
    /// - Returns: how many were added.
    /// - Throws: the storage's error when it cannot be written.
    @available(*, noasync)
    @discardableResult
    public func seedSampleTodos() throws -> Int {
        guard let name = TableName("todoitem") else { return 0 }
        let now = clock()
        let query = RowQuery(table: name, limit: 1, includesDeleted: true)
        guard try storage.list(query).rows.isEmpty else { return 0 }
        var added = 0
        for columns in SampleTodos.columns(at: now) {
            let head = HTTPRequest(
                method: .post, scheme: nil, authority: nil, path: "/tables/todoitem",
                headerFields: [.contentType: "application/json"])
            let call = Call(Request(head: head, body: Array(columns.text.utf8)))
            if case .inserted = try service.decide(call).outcome { added += 1 }
        }
        return added
    }
}
