import HTTPMessage
import HTTPTypes
import TablesProtocol

/// A request to the backend's tables before it is bound to an address: what an attempt records.
struct RemoteRequest: Sendable, Hashable {
    var method: HTTPRequest.Method
    /// Path and query after the backend's prefix.
    var target: String
    var body: JSONText?
    /// Header fields of this request alone: If-Match, Idempotency-Key.
    var fields: HTTPFields = [:]
}

extension RemoteRequest {
    /// A list, one row by its id among them: a 404 by id would not say whether the table is there.
    /// - Throws: ``ODataError`` with a sentence for what the generation cannot be asked.
    static func list(
        _ table: TableName, _ query: PageQuery, generation: Generation
    ) throws(ODataError) -> RemoteRequest {
        let text = try query.text(for: generation)
        let target = "/tables/\(table.text)" + (text.isEmpty ? "" : "?\(text)")
        return RemoteRequest(method: .get, target: target)
    }

    /// The request that carries an operation to a backend of a generation.
    static func operation(
        _ operation: TableOperation, isUnconditional: Bool, generation: Generation
    ) -> RemoteRequest {
        let shape = shape(operation, generation)
        var pairs = shape.pairs + operation.parameters.map(\.raw)
        if generation == .mobileServices { pairs.append("__systemproperties=*") }
        var target = "/tables/\(operation.table.text)"
        if shape.hasID { target += "/\(PercentCoding.encode(operation.itemID.text))" }
        if !pairs.isEmpty { target += "?" + pairs.joined(separator: "&") }
        var request = RemoteRequest(method: shape.method, target: target, body: shape.body)
        request.fields.set("Idempotency-Key", operation.id)
        if let trace = operation.traceparent { request.fields.set("traceparent", trace) }
        // A PUT of the whole row would undo what others changed in columns that it does not change: it
        // names its version also where the table's policy lets the local change win.
        if shape.hasID, !isUnconditional || shape.method == .put,
            let version = operation.baseVersion
        {
            request.fields[.ifMatch] = ETag.quote(version)
        }
        return request
    }

    /// The undeletion as Datasync 5 and 6 take it: their PUT answers 410 for a deleted row. The
    /// Community Toolkit takes only the PUT.
    static func patchedUndelete(_ request: RemoteRequest) -> RemoteRequest {
        var patch = request
        patch.method = .patch
        patch.body = try? JSONText(validating: #"{"deleted":false}"#)
        return patch
    }

    private struct Shape {
        var method: HTTPRequest.Method
        var hasID = true
        var body: JSONText?
        var pairs: [String] = []
    }

    private static func shape(_ operation: TableOperation, _ generation: Generation) -> Shape {
        switch operation.kind {
        case .insert:
            return Shape(
                method: .post, hasID: false,
                body: object(withoutRefusedNulls(columnsWithID(operation), base: nil, generation)))
        case .delete: return Shape(method: .delete)
        case .undelete:
            guard generation == .datasync else { return Shape(method: .post) }
            return Shape(
                method: .put, body: whole(operation), pairs: ["__includedeleted=true"])
        case .update, .replace:
            // The third generation replaces whole rows, the others merge columns.
            guard generation == .datasync else {
                return Shape(
                    method: .patch,
                    body: object(
                        withoutRefusedNulls(changes(operation), base: operation.baseRow, generation)
                    ))
            }
            return Shape(method: .put, body: whole(operation))
        }
    }

    /// The changed columns alone; for a replace also null for those that it leaves out.
    private static func changes(_ operation: TableOperation) -> Columns {
        let payload = operation.payload ?? Columns()
        guard operation.kind == .replace, let base = operation.baseRow else { return payload }
        let names = payload.changedNames(from: base)
        return Columns(names.map { Columns.Column($0, payload[$0] ?? .null) })
    }

    /// The columns without the nulls that the first generation refuses: it cannot tell the type of a
    /// column that is new to its table. A column that is left out reads as null there.
    private static func withoutRefusedNulls(
        _ columns: Columns, base: Columns?, _ generation: Generation
    ) -> Columns {
        guard generation == .mobileServices else { return columns }
        return Columns(columns.all.filter { $0.value != .null || base?[$0.name] != nil })
    }

    private static func whole(_ operation: TableOperation) -> JSONText? {
        object(columnsWithID(operation))
    }

    /// The whole row with its id; integer ids are the backend's to give, so an insert has none.
    private static func columnsWithID(_ operation: TableOperation) -> Columns {
        var columns = Columns()
        if !operation.isAssigned { columns["id"] = operation.itemID.json }
        if operation.kind != .insert, operation.kind != .replace, let base = operation.baseRow {
            columns.merge(base)
        }
        columns.merge(operation.payload ?? Columns())
        guard operation.kind == .replace, let base = operation.baseRow else { return columns }
        // Null changes nothing in a column that the row does not have.
        return Columns(columns.all.filter { !$0.value.isNull || base[$0.name] != nil })
    }

    private static func object(_ columns: Columns) -> JSONText? {
        try? JSONText(validating: columns.text)
    }
}

extension ItemID {
    /// The id as it stands in a body.
    var json: JSONText {
        if kind == .integer, let number { return .integer(number) }
        return .string(text)
    }
}

extension HTTPFields {
    /// Sets a field by its name.
    mutating func set(_ name: String, _ value: String) {
        guard let name = HTTPField.Name(name) else { return }
        self[name] = value
    }
}

/// A list request to the backend, as far as syncing asks for lists.
struct PageQuery: Sendable, Hashable {
    /// What is asked for, in one form for all generations.
    var query: TableQuery
    /// Pairs of the developer's own, still encoded.
    var parameters: [String] = []

    init(_ query: TableQuery, parameters: [String] = []) {
        self.query = query
        self.parameters = parameters
    }

    /// One row, whichever: whether there is a list at all.
    static let any = PageQuery(TableQuery(top: 1))

    /// The row with an id, deleted or not.
    static func row(_ id: ItemID) -> PageQuery {
        let filter = Expression.binary(.equal, .column(.id), .literal(.id(id)))
        return PageQuery(TableQuery(filter: filter, includeDeleted: true))
    }

    /// The row with an id that may be none that an item can have, deleted or not.
    static func row(named id: String) -> PageQuery {
        let filter = Expression.binary(.equal, .column(.id), .literal(.string(id)))
        return PageQuery(TableQuery(filter: filter, includeDeleted: true))
    }

    /// The query string for a generation, without its question mark.
    /// - Throws: ``ODataError`` with a sentence for what the generation cannot be asked.
    func text(for generation: Generation) throws(ODataError) -> String {
        var pairs = [try query.text(for: generation)].filter { !$0.isEmpty }
        if generation == .mobileServices { pairs.append("__systemproperties=*") }
        return (pairs + parameters).joined(separator: "&")
    }
}

extension Expression.Literal {
    /// An id, quoted unless it is an integer.
    static func id(_ id: ItemID) -> Expression.Literal {
        if id.kind == .integer, let number = id.number { return .number(NumberLiteral(number)) }
        return .string(id.text)
    }
}
