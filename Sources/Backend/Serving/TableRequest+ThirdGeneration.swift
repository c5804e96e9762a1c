import HTTPMessage
import HTTPTypes
import TablesProtocol

// What servers of the third generation alone look at: four conditions in the header fields, and JSON
// Patch.
extension TableRequest {
    /// The outcome of a request whose header fields do not fit the row, in the servers' order; nil when
    /// it may go on.
    ///
    /// A date counts only where the field of tags beside it is absent. The older server takes a change
    /// at the very instant for one before it, the toolkit's for one after it.
    func failedValidator(_ row: Row) -> Outcome? {
        let match = IfMatch.parse(call.field(.ifMatch), generation: .datasync)
        let noneMatch = IfMatch.parse(call.field(.ifNoneMatch), generation: .datasync)
        if !match.accepts(row.version) { return .preconditionFailed(row) }
        if match == .absent, let date = date(.ifUnmodifiedSince), hasChanged(row, after: date) {
            return .preconditionFailed(row)
        }
        // A deletion of the version that its client names has nothing that the client could miss.
        if call.method == .delete, match != .absent, noneMatch != .absent { return nil }
        let isKnown: Bool
        if noneMatch == .absent {
            isKnown = date(.ifModifiedSince).map { !hasChanged(row, after: $0) } ?? false
        } else {
            isKnown = noneMatch.accepts(row.version)
        }
        guard isKnown else { return nil }
        let isRead = call.method == .get || call.method == .head
        return isRead ? .notModified(row) : .preconditionFailed(row)
    }

    private func date(_ name: HTTPField.Name) -> Instant? {
        call.field(name).flatMap { Instant(httpDate: $0) }
    }

    private func hasChanged(_ row: Row, after date: Instant) -> Bool {
        profile.flavour == .toolkit ? row.updatedAt >= date : row.updatedAt > date
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
