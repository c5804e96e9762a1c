import HTTPTypes

/// The conditions of a request on the state of its item.
public struct Conditions: Sendable, Hashable {
    /// The server whose rule dates are compared by. Only third generation servers read dates.
    public enum DateRule: Sendable, Hashable {
        /// Microsoft.AspNetCore.Datasync: a change at exactly that instant counts as before it.
        case datasync
        /// CommunityToolkit.Datasync.Server: a change at exactly that instant counts as after it.
        case toolkit
    }

    /// Whether the conditions hold for an item.
    public enum Verdict: Sendable, Hashable {
        /// They hold: the request continues.
        case holds
        /// The client has the present version: 304 for a read, 412 for a write.
        case known
        /// They do not hold: 412.
        case fails
    }

    /// The versions that the item must have.
    public var ifMatch: IfMatch
    /// The versions that the item must not have.
    public var ifNoneMatch: IfMatch
    /// The time after which the item must not have changed; ignored with `ifMatch`.
    public var unmodifiedSince: Instant?
    /// The time after which the item must have changed; ignored with `ifNoneMatch`.
    public var modifiedSince: Instant?
    /// How the two times are compared.
    public var dateRule: DateRule
    /// The tests of a JSON Patch: members of the item and their required values.
    public var tests: [Columns.Column]

    /// Makes conditions; without arguments there are none.
    public init(
        ifMatch: IfMatch = .absent, ifNoneMatch: IfMatch = .absent,
        unmodifiedSince: Instant? = nil, modifiedSince: Instant? = nil,
        dateRule: DateRule = .datasync, tests: [Columns.Column] = []
    ) {
        self.ifMatch = ifMatch
        self.ifNoneMatch = ifNoneMatch
        self.unmodifiedSince = unmodifiedSince
        self.modifiedSince = modifiedSince
        self.dateRule = dateRule
        self.tests = tests
    }

    /// Whether there are no conditions.
    public var isEmpty: Bool {
        ifMatch == .absent && ifNoneMatch == .absent && unmodifiedSince == nil
            && modifiedSince == nil && tests.isEmpty
    }

    /// Leaves the conditions out that a deletion does not have beside If-Match: the item has the version that
    /// its client means, so there is nothing that the client could miss.
    mutating func keepIfMatchAlone() {
        guard ifMatch != .absent, ifNoneMatch != .absent else { return }
        (ifNoneMatch, modifiedSince) = (.absent, nil)
    }

    /// Checks the header conditions in the order of the third generation's servers.
    /// - Parameters:
    ///   - versions: the versions under which a client may know the present item.
    ///   - changed: the time of the item's last change.
    public func verdict(versions: [String], changed: Instant) -> Verdict {
        if !versions.contains(where: ifMatch.accepts) { return .fails }
        if ifMatch == .absent, let unmodifiedSince, isAfter(changed, unmodifiedSince) {
            return .fails
        }
        if ifNoneMatch != .absent {
            return versions.contains(where: ifNoneMatch.accepts) ? .known : .holds
        }
        guard let modifiedSince else { return .holds }
        return isAfter(changed, modifiedSince) ? .holds : .known
    }

    private func isAfter(_ change: Instant, _ date: Instant) -> Bool {
        switch dateRule {
        case .datasync: change > date
        case .toolkit: change >= date
        }
    }
}

extension TableCall {
    /// Reads the conditions that servers of the client's generation check.
    ///
    /// 1. First generation: `If-None-Match` of a read, `If-Match` of a write.
    /// 2. Second: none for a read; `If-Match` of a write, else the version in the body.
    /// 3. Third: all four fields for both; for a deletion If-None-Match does not count beside If-Match. Dates are compared as on the server of the client's family; for
    ///    `PATCH`, as on the only server that has it.
    /// - Throws: ``TablesError`` for an If-Match that the servers refuse.
    mutating func readConditions(_ fields: HTTPFields) throws(TablesError) {
        let isRead: Bool
        var body: ItemBody?
        switch verb {
        case .list, .insert: return
        case .get: isRead = true
        case .update(_, let sent), .replace(_, let sent): (isRead, body) = (false, sent)
        case .delete, .undelete: isRead = false
        }
        conditions.tests = body?.tests ?? []
        switch generation {
        case .mobileServices where isRead:
            // Several tags and weak tags are allowed here.
            conditions.ifNoneMatch = IfMatch.parse(fields[.ifNoneMatch], generation: .datasync)
        case .mobileApps where isRead: break
        case .mobileServices, .mobileApps:
            conditions.ifMatch = IfMatch.parse(fields[.ifMatch], generation: generation)
            if case .invalid(let field) = conditions.ifMatch { throw .invalidIfMatch(field) }
            if conditions.ifMatch == .absent, let version = body?.version {
                conditions.ifMatch = .versions([version])
            }
        case .datasync:
            conditions.ifMatch = IfMatch.parse(fields[.ifMatch], generation: .datasync)
            conditions.ifNoneMatch = IfMatch.parse(fields[.ifNoneMatch], generation: .datasync)
            conditions.unmodifiedSince = Self.date(fields[.ifUnmodifiedSince])
            conditions.modifiedSince = Self.date(fields[.ifModifiedSince])
            var isPatch = false
            if case .update = verb { isPatch = true }
            conditions.dateRule = client == .toolkit && !isPatch ? .toolkit : .datasync
            if case .delete = verb { conditions.keepIfMatchAlone() }
        }
    }

    /// A date that cannot be parsed is no condition, as in HTTP.
    private static func date(_ field: String?) -> Instant? {
        field.flatMap { Instant(httpDate: $0) }
    }
}
