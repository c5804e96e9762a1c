import Backend
import Simulator
import Storage
import TablesProtocol
import Testing

@testable import SyncCore

extension World {
    /// Inserts rows at the backend, the last of them much later than the others.
    func fill(_ count: Int) async throws {
        for number in 0..<count {
            if number == count - 1 { clock.advance(by: .seconds(30)) }
            try await elsewhere(
                "POST", nil, #"{"id":"r\#(1000 + number)","text":"\#(number)"}"#)
        }
    }

    /// The number of items in the store's table.
    func itemCount() async throws -> Int {
        try await store.tables().first { $0.name == todo.text }?.items ?? 0
    }

    /// Compares the whole rows of the store and the backend, tombstones too.
    func expectSameRows(_ context: String = "") async throws {
        let todo = todo
        struct Mine: Sendable {
            var columns: Columns
            var isDeleted: Bool
            var version: String?
            var updatedAt: Instant?
            var isPending: Bool
        }
        let mine = try await store.read { transaction in
            guard let table = try transaction.tables.table(todo) else { return [String: Mine]() }
            let ids: [String] = try transaction.column(
                "SELECT id FROM items WHERE table_id = ?", [table.id])
            var rows: [String: Mine] = [:]
            for id in ids {
                guard let row = try transaction.items.row(table, exactly: ItemID(id)) else {
                    continue
                }
                rows[id] = Mine(
                    columns: row.columns, isDeleted: row.deleted, version: row.serverVersion,
                    updatedAt: row.serverUpdatedAt.flatMap { Instant(iso: $0) },
                    isPending: row.pending != nil)
            }
            return rows
        }
        let theirs = try await backend.items(in: todo)
        for item in theirs {
            let row = mine[item.id.text]
            #expect(row != nil, "\(item.id) is missing \(context)")
            guard let row else { continue }
            #expect(row.columns == item.columns, "\(item) \(context)")
            #expect(row.isDeleted == item.deleted && !row.isPending, "\(item) \(context)")
            #expect(row.version == item.version, "\(item) \(context)")
            #expect(row.updatedAt == item.updatedAt, "\(item) \(context)")
        }
        let known = Set(theirs.map(\.id.text))
        for (id, row) in mine where !known.contains(id) {
            #expect(row.isDeleted, "\(id) is not at the backend \(context)")
        }
    }
}

extension ListElement {
    /// The element of a list of one, from its text.
    init(_ bytes: ArraySlice<UInt8>, generation: Generation) {
        let body = Array("[".utf8) + bytes + Array("]".utf8)
        guard let page = ListBody.parse(body, generation: generation) else {
            preconditionFailure("a list")
        }
        self = page.elements[0]
    }
}
