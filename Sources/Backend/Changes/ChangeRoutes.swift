import HTTPMessage
import HTTPTypes
import Synchronization
import TablesProtocol

// `GET /tables/changes` with `Accept: text/event-stream` (docs/PROTOCOL.md). Without that field it is a list of a
// table of this name.
final class ChangeRoutes: Sendable {
    private let rules: BackendRules
    private let storage: any RowStorage
    private let feed: ChangeFeed
    private let outage: StorageOutage
    /// Whether the storage was asked to tell its changes.
    private let hearsChanges = Atomic<Bool>(false)

    init(
        _ rules: BackendRules, _ storage: any RowStorage, _ feed: ChangeFeed,
        _ outage: StorageOutage
    ) {
        (self.rules, self.storage, self.feed, self.outage) = (rules, storage, feed, outage)
    }

    /// The stream of changes; nil for every other request.
    func answer(_ call: Call) throws -> Response? {
        guard serves(call) else { return nil }
        let reader = ChangeReader(
            user: try call.user?.id ?? issuedUser(call),
            endsAt: call.user?.end)
        guard rules.options.mayFollow(reader) else {
            return rules.refused(call, Refusal(401, "No table can be read without a sign-in."))
        }
        if hearsChanges.compareExchange(
            expected: false, desired: true, ordering: .acquiringAndReleasing
        ).exchanged {
            storage.tellChanges { [weak self] in self?.hear($0) }
        }
        guard let stream = feed.follow(reader) else {
            return rules.answerer(call).unavailable()
        }
        var fields: HTTPFields = [
            .contentType: ChangeStream.mediaType, .cacheControl: "no-store",
            .xContentTypeOptions: "nosniff",
        ]
        // nginx would keep the events back.
        fields.set("X-Accel-Buffering", "no")
        return Response(head: HTTPResponse(status: .ok, headerFields: fields), stream: stream)
    }

    /// Whether a request is one for the stream, and there is one.
    func serves(_ call: Call) -> Bool { rules.options.servesChanges && call.asksForChanges }

    /// The user of a token that this backend handed out.
    private func issuedUser(_ call: Call) throws -> String? {
        guard rules.options.tokens == .issued, let token = call.token(rules.profile.generation)
        else {
            return nil
        }
        return try storage.user(ofToken: token)
    }

    private func hear(_ news: ChangeNews) {
        guard feed.hear(news) else { return }
        if case .silent(let reason) = news {
            outage.say(.silent(reason: reason))
        } else {
            outage.say(.tells)
        }
    }
}

extension VerifiedUser {
    /// When the token ends; nil where it does not say that as a time.
    fileprivate var end: Instant? {
        guard case .number(let number) = claims["exp"], let seconds = Double(number.text),
            seconds >= 0, seconds < Double(Instant.latest.milliseconds) / 1000
        else { return nil }
        return Instant(milliseconds: Int64(seconds * 1000))
    }
}

extension Call {
    /// Whether it asks for the stream of changes.
    var asksForChanges: Bool {
        guard method == .get, case .table(let name) = route else { return false }
        return ChangeStream.isAsked(for: name, accept: field(.accept))
    }
}

extension BackendOptions {
    /// What a reader may be told of a change: nothing where it may not read the table. Of a table in which each
    /// user has rows of their own, it is told the stamp of its own changes alone.
    func told(_ change: TableChange, to reader: ChangeReader, _ profile: Profile) -> TableChange? {
        let name = change.table
        if tables[name] == nil, profile.hasOnlyListedTables { return nil }
        guard let table = table(name) ?? (tokens == .verified ? nil : TableOptions()),
            permission(.read, isUser: reader.user != nil, on: name) == .given
        else { return nil }
        let needsUser = tokens == .verified ? table.ownerColumn != nil : table.needsSignIn
        guard needsUser, tokens == .verified || profile.separatesUsers else {
            return needsUser && reader.user == nil
                ? nil : TableChange(table: name, stamp: change.stamp)
        }
        guard let user = reader.user else { return nil }
        guard let owner = change.owner else { return TableChange(table: name, stamp: nil) }
        // Bytes are compared, as those of owners are everywhere.
        return owner.utf8.elementsEqual(user.utf8)
            ? TableChange(table: name, stamp: change.stamp) : nil
    }

    /// Whether there may be a table that a reader may read.
    func mayFollow(_ reader: ChangeReader) -> Bool {
        guard tokens == .verified else { return true }
        return (tables.values + [dynamicTable].compactMap(\.self)).contains { table in
            !table.disabled.contains(.read)
                && (reader.user != nil
                    || !table.signedIn.contains(.read) && table.ownerColumn == nil)
        }
    }
}
