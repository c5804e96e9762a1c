import Backend
import HTTPMessage
import HTTPTypes
import SyncCore
import TablesProtocol

/// The backend is restored from an earlier copy.
extension Simulation {
    /// Copies the backend, or restores it from the copy.
    ///
    /// What the backend had applied since the copy is lost, which is not the proxies' fault: the expected
    /// values become those of the copy. Open operations were never acknowledged by the backend, so their
    /// values stay expected.
    func keepOrRestore() async throws {
        await executor.quiet()
        guard let copy else { return try keepCopy() }
        try restore(copy)
        self.copy = nil
        wasBackendRestored = true
        trace.note("others: the backend is put back")
        trace.fault("backend restored")
        var open: [String: [OperationSummary]] = [:]
        for proxy in proxies {
            // Connections to the old server end.
            proxy.transport.dropLate()
            proxy.answers = [:]
            for operation in try await proxy.operations(OperationState.open) {
                open[operation.itemID, default: []].append(operation)
            }
        }
        let rows = try remote()
        for id in model.ids {
            let row = rows.first { $0.id.text == id }
            expect(id, from: row, open: open[id] ?? [])
        }
    }

    private func expect(_ id: String, from row: Item?, open: [OperationSummary]) {
        if !open.contains(where: { $0.kind == .delete }) { model.deletedBy[id] = nil }
        // The other writers' column has the copy's value, or that of an insert that is still open.
        model.expectedValues[id]?["e"] = row?.columns["e"]?.string
        guard let row, !row.deleted else {
            // The item may come back after an item that refers to it.
            model.unordered.insert(id)
            if !open.contains(where: { $0.kind == .insert }) { model.undetermined.insert(id) }
            return
        }
        for column in (model.expectedValues[id] ?? [:]).keys {
            let isOpen = open.contains { $0.kind == .insert || $0.changedColumns.contains(column) }
            if !isOpen { model.expectedValues[id]?[column] = row.columns[column]?.string }
        }
    }

    private func keepCopy() throws {
        copy = try rows.copy()
        trace.note("others: the backend is copied")
    }

    private func restore(_ copy: SQLiteRowStorage.Copy) throws { try rows.restore(copy) }
}

/// Other writers at the backend.
extension Simulation {
    func insertElsewhere() {
        let id = "x\(nextValue())"
        let body = #"{"id":"\#(id)","m0":"0","m1":"0","m2":"0","e":"\#(id)","s":"0"}"#
        guard elsewhere("POST", nil, body) == 201 else { return }
        model.ids.append(id)
        for column in ["m0", "m1", "m2"] { model.recordWrite(by: -1, id, column, "0") }
        model.recordWrite(by: -1, id, "e", id)
    }

    func updateElsewhere() throws {
        guard let id = pickID() else { return }
        let row = try remote().first { $0.id.text == id && !$0.deleted }
        guard let row else { return }
        let value = nextValue()
        // The third generation replaces whole rows.
        let isWhole = plan.generation == .datasync
        var columns = isWhole ? row.columns : Columns()
        columns["e"] = .string(value)
        if random.happens(0.3) { columns["s"] = .string(value) }
        if isWhole { columns["id"] = .string(id) }
        let status = elsewhere(isWhole ? "PUT" : "PATCH", id, columns.text)
        if status == 200 { model.recordWrite(by: -1, id, "e", value) }
    }

    func deleteElsewhere() {
        guard let id = pickID(), elsewhere("DELETE", id, nil) < 300 else { return }
        model.undetermined.insert(id)
        model.recordWrite(by: -1, id)
    }

    /// Synchronous: nothing else happens between the write and its record in the model.
    private func elsewhere(_ method: String, _ id: String?, _ body: String?) -> Int {
        let path = "/tables/todoitem" + (id.map { "/\($0)" } ?? "")
        trace.note("others: \(method) \(id ?? "")")
        var request = Request.tables(method, path, body)
        if let name = HTTPField.Name("ZUMO-API-VERSION") {
            request.head.headerFields[name] =
                switch plan.generation {
                case .mobileServices: nil
                case .mobileApps: "2.0.0"
                case .datasync: "3.0.0"
                }
        }
        return backend.respond(to: request).head.status.code
    }
}

/// Reads of the backend that bypass the proxies. The time does not advance.
extension Simulation {
    /// The effects at the backend, in order.
    func effects() throws -> [Effect] { try backend.effects() }

    /// The rows at the backend, including tombstones.
    func remote() throws -> [Item] { try backend.items(in: table) }
}
