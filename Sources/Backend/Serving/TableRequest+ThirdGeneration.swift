import HTTPMessage
import HTTPTypes
import TablesProtocol

// What servers of the third generation alone look at: four conditions in the header fields, and JSON
// Patch.
extension TableRequest {
    /// The outcome of a request whose header fields do not fit the row; nil when it may go on.
    func failedValidator(_ row: Row) -> Outcome? {
        let conditions = Conditions(
            datasync: call.request.head.headerFields,
            profile.flavour == .toolkit ? .toolkit : .datasync, deletes: call.method == .delete)
        let isRead = call.method == .get || call.method == .head
        return switch conditions.verdict(versions: [row.version], changed: row.updatedAt) {
        case .holds: nil
        case .known where isRead: .notModified(row)
        case .known, .fails: .preconditionFailed(row)
        }
    }

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
