import HTTPMessage
import HTTPTypes
import TablesProtocol

/// The parsed JSON object of a write.
struct Sent: Sendable {
    /// The id in it: absent, null, empty and, in a table with integer ids, 0 are none.
    var id: String?
    /// The user's columns in their order.
    var columns = Columns()
    /// The version in it.
    var version: String?
    /// The time of the last change in it, which servers of the third generation compare.
    var updatedAt: String?
    /// The JSON Patch that it came in; nil when it came as an object.
    var patch: JSONPatch?
    /// The deleted mark in it; nil where it would mark an item of a table that deletes for good.
    var deleted: Bool?
    /// The whole object as it came.
    var all: Columns

    /// Parses the object as a server of the profile does.
    init(_ all: Columns, _ profile: Profile, _ options: TableOptions) throws(Refusal) {
        let all = profile.generation == .mobileServices ? all.scripted : all
        self.all = all
        var user: [Columns.Column] = []
        var names: [ExactName: String] = [:]
        for column in all.all {
            let key = ExactName(lowercasing: column.name)
            // Servers in JavaScript know one spelling of the id, the others all.
            if key.text == "id", column.name != key.text,
                profile.generation == .mobileServices || profile.isNode
            {
                throw Refusal(
                    400, "Item identifiers can only be specified via the 'id' property.")
            }
            if let other = names.updateValue(column.name, forKey: key) {
                throw Refusal(
                    400, "'\(other)' and '\(column.name)' are one property. Send it once.")
            }
            if key.text == "id" {
                id = try Self.id(column.value, profile, options)
            } else if let property = Self.property(column.name, profile, options) {
                try take(property, column, profile)
            } else {
                user.append(column)
            }
        }
        columns = Columns(user)
        // A table that deletes for good keeps no deleted items.
        if !options.softDelete, deleted == true { deleted = nil }
    }

    private mutating func take(
        _ property: SystemProperty, _ column: Columns.Column, _ profile: Profile
    ) throws(Refusal) {
        switch (property, profile.reserved, profile.generation) {
        case (_, .refused, .mobileServices):
            throw Refusal(
                400,
                "The property '\(column.name)' can not be set. Properties that begin with a '__'"
                    + " are considered system properties.")
        case (.version, _, _): version = column.value.string
        case (_, .refused, _):
            throw Refusal(
                400, "Cannot update item with property '\(column.name)' as it is reserved")
        case (.deleted, .dropped, _): deleted = column.value.value.bool
        case (.updatedAt, .dropped, _): updatedAt = column.value.string
        case (.createdAt, .dropped, _): break
        }
    }

    /// The first generation takes every name that begins with `__` for a property of the server,
    /// but has none at all in tables with integer ids.
    private static func property(
        _ name: String, _ profile: Profile, _ options: TableOptions
    ) -> SystemProperty? {
        guard profile.generation == .mobileServices else {
            return SystemProperty(named: name, in: profile.generation)
        }
        guard options.idKind == .string, name.hasPrefix("__") else { return nil }
        return SystemProperty(named: name, in: .mobileServices) ?? .version
    }

    private static func id(
        _ value: JSONText, _ profile: Profile, _ options: TableOptions
    ) throws(Refusal) -> String? {
        switch value.value {
        case .null: return nil
        case .string(let text): return text.isEmpty ? nil : text
        case .number(let number):
            let isNone = options.idKind == .integer || profile.isNode
            return isNone && number.integer == 0 ? nil : number.text
        case .bool(false) where profile.isNode: return nil
        case .bool, .array, .object:
            throw Refusal(400, "The value specified for property 'id' is invalid.")
        }
    }
}

extension TableRequest {
    /// The parsed body of a write.
    func sent(_ table: TableOptions) throws(Refusal) -> Sent {
        if !call.request.body.isEmpty, call.hasEncodedBody { throw Refusal.encodedBody }
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
        let isJSON = call.mediaType.map { type in
            type.isJSON && (profile.flavour != .datasync || type.name == "application/json")
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
    func withDefaults(_ columns: Columns, _ table: StoredTable) -> Columns {
        guard hasFixedColumns(table) else { return columns }
        let given = Set(columns.names.map { ExactName(lowercasing: $0) })
        var whole = columns
        for column in table.options.columns
        where !given.contains(ExactName(lowercasing: column.name)) {
            switch column.type {
            case .string: whole[column.name] = .null
            case .boolean: whole[column.name] = .bool(false)
            case .number: whole[column.name] = .integer(0)
            }
        }
        return table.spelled(whole)
    }

    /// Whether only the declared columns exist.
    private func hasFixedColumns(_ table: StoredTable) -> Bool {
        switch profile.flavour {
        case .dotnet, .datasync, .toolkit: !table.options.columns.isEmpty
        case .mobileServices, .mobileApps, .node, .express: false
        }
    }

    /// Checks a new id as the flavour does. None takes U+0000, which PostgreSQL cannot keep, nor one that is
    /// longer than PostgreSQL's indexes take.
    func check(id: String, _ table: TableOptions) throws(Refusal) {
        if profile.generation == .mobileServices, table.idKind == .integer {
            throw Refusal(400, "A value cannot be specified for property 'id'")
        }
        if id.utf8.contains(0) { throw invalidID }
        guard !profile.isNode else {
            if id.utf8.count > Limits.nodeIDBytes {
                throw Refusal(
                    400, "The id has more than \(Limits.nodeIDBytes) bytes. Send a shorter one.")
            }
            return
        }
        do {
            _ = try ItemID(id)
        } catch {
            throw invalidID
        }
    }

    /// The columns as the table keeps them; on the Node server each column has a type.
    func kept(_ columns: Columns, _ table: StoredTable) throws(Refusal) -> Kept {
        var rules = ColumnRules(
            known: table.knownColumns, isFixed: hasFixedColumns(table), profile: profile)
        let kept = try rules.keep(columns)
        let most = mostColumns(table)
        if kept.all.count > most || table.knownColumns.count + rules.new.count > most {
            throw Refusal.tooManyColumns
        }
        var table = table
        table.seenColumns += rules.new
        return Kept(columns: kept, new: rules.new, table: table)
    }

    /// A row's columns after an update.
    func merged(_ row: Row, _ kept: Kept) throws(Refusal) -> Columns {
        let columns = kept.table.merged(row.columns, with: kept.columns)
        let count = columns.all.count
        if count > mostColumns(kept.table), count > row.columns.all.count {
            throw Refusal.tooManyColumns
        }
        return columns
    }

    /// The most columns that a write may give the table and each of its rows. A table whose rows came
    /// from another backend may have more columns already; it gets no others.
    private func mostColumns(_ table: StoredTable) -> Int {
        max(Limits.columnsOfTable, table.knownColumns.count)
    }

    /// The columns of a write that a table keeps.
    struct Kept: Sendable {
        var columns: Columns
        /// The columns that the table gets with it.
        var new: [TableOptions.Column]
        /// The table with those.
        var table: StoredTable
    }
}

// A JSON Patch, which one server takes for an update.
extension TableRequest {
    /// The body of an update that came as a JSON Patch to the server that takes one: what it sets, the
    /// last value of each member. Nil for any other body.
    func patched(_ table: TableOptions) throws(Refusal) -> Sent? {
        guard profile.flavour == .datasync, call.method == .patch,
            call.mediaType?.name == "application/json-patch+json"
        else { return nil }
        let patch: JSONPatch
        do throws(TablesError) { patch = try JSONPatch(parsing: call.request.body) } catch {
            throw Refusal(400, error.sentence(in: .datasync))
        }
        let set = patch.operations.filter { $0.action != .test }.map {
            Columns.Column($0.name, $0.value)
        }
        var sent = try Sent(Columns(set), profile, table)
        sent.patch = patch
        return sent
    }

    /// The refusal of an update that gives the row another version or another time; a time that is no
    /// date is not looked at.
    func changesSystemProperties(_ sent: Sent, _ row: Row) -> Refusal? {
        guard profile.flavour == .datasync else { return nil }
        if let version = sent.version, version != row.version {
            return Refusal(400, "The version cannot be changed.")
        }
        guard let text = sent.updatedAt, let instant = Instant(iso: text),
            instant.milliseconds != row.updatedAt.milliseconds
        else { return nil }
        return Refusal(400, "The time of the last change cannot be changed.")
    }

    /// Runs the tests of a patch between its changes. The real server lets the failure of one end in a
    /// failure of its own.
    func check(_ patch: JSONPatch, _ row: Row) throws(Refusal) {
        var members = Dictionary(
            row.columns.all.map { (ExactName(lowercasing: $0.name), $0.value) },
            uniquingKeysWith: { $1 })
        members[ExactName("id")] = .string(row.id)
        members[ExactName("updatedat")] = .string(row.updatedAt.text)
        members[ExactName("version")] = .string(row.version)
        members[ExactName("deleted")] = .bool(row.deleted)
        for operation in patch.operations {
            let key = ExactName(lowercasing: operation.name)
            switch operation.action {
            case .add, .replace, .remove: members[key] = operation.value
            case .test:
                let value = members[key] ?? .null
                if !value.isSame(as: operation.value) { throw Refusal(500, "", as: .empty) }
            }
        }
    }
}
