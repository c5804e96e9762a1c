import GRDB
import HTTPMessage
import HTTPTypes
import TablesProtocol

extension Exchange {
    /// The body of a write, taken apart.
    func sent(_ table: TableOptions) throws(Refusal) -> Sent {
        if let sent = try patched(table) { return sent }
        return try Sent(object(), profile, table)
    }

    /// The JSON object of the body.
    private func object() throws(Refusal) -> Columns {
        let bytes = call.request.body
        if profile.generation == .mobileServices { return try firstObject() }
        if profile.isNode {
            if bytes.count > Limits.nodeBodyBytes {
                throw Refusal(400, "request entity too large")
            }
            if bytes.isEmpty { return Columns() }
        }
        if let refusal = unsupportedType { throw refusal }
        do {
            return try Columns(parsing: bytes)
        } catch {
            throw badJSON(error)
        }
    }

    /// The older servers take a body without a type for JSON; the newer refuse it.
    private var unsupportedType: Refusal? {
        let type = call.field(.contentType).map { field in
            field.prefix { $0 != ";" }.lowercased().filter { $0 != " " }
        }
        let isJSON = type.map {
            $0 == "application/json" || ($0.hasSuffix("+json") && profile.flavour != .datasync)
        }
        switch (isJSON, profile.flavour) {
        case (true, _): return nil
        case (_, .mobileServices), (nil, .mobileApps), (nil, .node), (nil, .express):
            return nil
        case (_, .node), (_, .express):
            let operation = call.method == .patch ? "update" : "insert"
            return Refusal(500, "An item to \(operation) was not provided")
        case (_, .mobileApps), (_, .dotnet), (_, .datasync), (_, .toolkit):
            return Refusal(415, "Unsupported Media Type")
        }
    }

    private func badJSON(_ error: JSONError) -> Refusal {
        // Node's parser takes objects and lists only.
        let isList = call.request.body.first { !" \t\r\n".utf8.contains($0) } == UInt8(ascii: "[")
        guard error.reason == .notAnObject, isList || !profile.isNode else {
            return Refusal(400, error.description)
        }
        switch profile.flavour {
        case .node, .express:
            return Refusal(500, ColumnRules.invalidIdentifier("0"))
        case .mobileServices:
            return Refusal(400, "A single (valid) JSON object is expected.")
        case .mobileApps, .dotnet, .datasync, .toolkit:
            return Refusal(400, error.description)
        }
    }

    /// The columns with those that are missing at the default of their type, on the servers whose
    /// items are objects of a class.
    func withDefaults(_ columns: Columns, _ table: TableRecord) -> Columns {
        guard hasFixedColumns(table) else { return columns }
        var whole = columns
        for column in table.options.columns where columns[column.name] == nil {
            switch column.type {
            case .string: whole[column.name] = .null
            case .boolean: whole[column.name] = .bool(false)
            case .number: whole[column.name] = .integer(0)
            }
        }
        return whole
    }

    /// Whether only the declared columns exist.
    private func hasFixedColumns(_ table: TableRecord) -> Bool {
        switch profile.flavour {
        case .dotnet, .datasync, .toolkit: !table.options.columns.isEmpty
        case .mobileServices, .mobileApps, .node, .express: false
        }
    }

    /// Checks a new id as the flavour does.
    func check(id: String, _ table: TableOptions) throws(Refusal) {
        if profile.generation == .mobileServices, table.idKind == .integer {
            throw Refusal(400, "A value cannot be specified for property 'id'")
        }
        guard !profile.isNode else { return }
        do {
            _ = try ItemID(id)
        } catch {
            throw invalidID
        }
    }

    /// The columns as the table keeps them; on the Node server each column has a type.
    func kept(_ columns: Columns, _ table: inout TableRecord) throws(Refusal) -> Columns {
        var rules = ColumnRules(
            known: table.knownColumns, isFixed: hasFixedColumns(table), profile: profile)
        let kept = try rules.keep(columns)
        table.seenColumns += rules.new
        return kept
    }
}
