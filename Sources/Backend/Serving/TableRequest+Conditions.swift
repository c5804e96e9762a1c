import HTTPTypes
import TablesProtocol

extension TableRequest {
    /// The outcome of a write whose condition does not hold; nil when it does.
    ///
    /// A version in the body counts only where no If-Match came, and then gives 409.
    func mismatch(_ row: Row, _ sent: Sent?, _ table: StoredTable) -> Outcome? {
        if table.isPlain(profile.generation) || options.table(table.name)?.hasVersions == false {
            return nil
        }
        if profile.generation == .datasync { return failedValidator(row) }
        if profile.generation == .mobileServices { return firstMismatch(row, table) }
        let field = call.field(.ifMatch)
        if profile.isNode, let field {
            return nodeAccepts(field, row) ? nil : .preconditionFailed(row)
        }
        switch IfMatch.parse(field, generation: profile.generation) {
        case .invalid: return .refused(Refusal(400, "Invalid 'if-match' header."))
        case .any: return nil
        case .versions(let versions):
            return versions.contains(row.version) ? nil : .preconditionFailed(row)
        case .absent:
            guard let version = sent?.version, version != row.version else { return nil }
            return profile.bodyVersionCounts ? .versionConflict(row) : nil
        }
    }

    private func firstMismatch(_ row: Row, _ table: StoredTable) -> Outcome? {
        do {
            guard let version = try firstCondition(table.options) else { return nil }
            return version == row.version ? nil : .preconditionFailed(row)
        } catch {
            return .refused(error)
        }
    }

    /// The Node server strips quotes and knows neither `*` nor weak tags.
    private func nodeAccepts(_ field: String, _ row: Row) -> Bool {
        var text = field[...]
        if text.hasPrefix("\"") { text = text.dropFirst() }
        if text.hasSuffix("\"") { text = text.dropLast() }
        return text.replacing("\\\"", with: "\"") == row.version
    }

    /// The outcome of an update or replace of a deleted item; nil when it may go on.
    func refuseDeleted(_ row: Row) -> Outcome? {
        let includes =
            profile.includesDeletedByID && includesDeleted && profile.flavour != .datasync
            && profile.generation != .mobileServices
        guard row.deleted, !includes else { return nil }
        switch profile.writeDeleted {
        case .missing: return .missing(id: row.id)
        case .gone: return .gone(id: row.id)
        case .conflict: return .preconditionFailed(row)
        case .found: return nil
        }
    }

    /// The outcome of deleting what is deleted already.
    func deletedTwice(_ row: Row) -> Outcome? {
        switch profile.flavour {
        case .node, .express:
            return call.field(.ifMatch) == nil ? .versionConflict(row) : .preconditionFailed(row)
        case .mobileServices:
            // A version that fits is compared with a deleted row's all the same, and never fits.
            let hasCondition = (try? firstCondition(TableOptions())) != nil
            return hasCondition ? .preconditionFailed(row) : .missing(id: row.id)
        case .mobileApps, .dotnet: return .missing(id: row.id)
        case .datasync, .toolkit: return .gone(id: row.id)
        }
    }

    /// The refusal of a body whose id is not that of the path.
    func idMismatch(_ sent: Sent, _ id: String) -> Refusal? {
        if profile.generation == .mobileServices { return firstIDMismatch(sent, id) }
        if profile.isNode, let refusal = nodeIDMismatch(sent, id) { return refusal }
        guard let other = sent.id else {
            return profile.generation == .datasync && call.method == .put
                ? Refusal(400, "", as: .empty) : nil
        }
        guard other != id else { return nil }
        switch profile.errors {
        case .codeAndError, .error, .message, .problem:
            return Refusal(400, "The item ID and querystring ID did not match")
        case .empty: return Refusal(400, "", as: .empty)
        }
    }

    private func nodeIDMismatch(_ sent: Sent, _ id: String) -> Refusal? {
        switch sent.all["id"]?.value {
        case .null?: Refusal(500, "Cannot read properties of null (reading 'toString')")
        case .string("")?: Refusal(400, "The item ID and querystring ID did not match")
        default: nil
        }
    }

    /// The outcome of a PATCH that sets no column: the first generation changes nothing, the Node
    /// server of the second writes broken SQL, the others only move the version.
    func withoutColumns(
        _ row: Row, _ sent: Sent, _ kept: Kept, _ undeletes: Bool
    ) throws(Refusal) -> Outcome? {
        guard kept.columns.isEmpty, !undeletes else { return nil }
        switch profile.flavour {
        case .mobileServices: return .changed(row, sent: sent.all, kept.table)
        case .node, .express:
            throw Refusal(500, "SQLITE_ERROR: near \"WHERE\": syntax error")
        case .mobileApps, .dotnet, .datasync, .toolkit: return nil
        }
    }

    /// Whether the request asks for deleted items too; each server spells it its own way.
    var includesDeleted: Bool {
        if profile.generation == .mobileServices {
            // A repeated pair is a list there, and no list is true.
            let given = call.parameters.filter { $0.name.lowercased() == "__includedeleted" }
            return given.count == 1 && given[0].value.lowercased() == "true"
        }
        if profile.isNode { return !(call.parameter("__includeDeleted") ?? "").isEmpty }
        if call.field("X-ZUMO-Options") == "include:deleted" { return true }
        return call.parameter(anyCase: "__includeDeleted")?.lowercased() == "true"
    }
}
