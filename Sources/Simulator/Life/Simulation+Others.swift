import Backend
import HTTPMessage
import HTTPTypes
import SyncCore
import TablesProtocol

/// Others, who write at the backend.
extension Simulation {
    func insertElsewhere() {
        let id = "x\(nextValue())"
        let body = #"{"id":"\#(id)","m0":"0","m1":"0","m2":"0","e":"\#(id)","s":"0"}"#
        guard elsewhere("POST", nil, body) == 201 else { return }
        model.ids.append(id)
        for column in ["m0", "m1", "m2"] { model.wrote(-1, id, column, "0") }
        model.wrote(-1, id, "e", id)
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
        if status == 200 { model.wrote(-1, id, "e", value) }
    }

    func deleteElsewhere() {
        guard let id = pickID(), elsewhere("DELETE", id, nil) < 300 else { return }
        model.spoiled.insert(id)
        model.wrote(-1, id)
    }

    /// At once: between what somebody does there and what is booked of it nobody else does anything.
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
