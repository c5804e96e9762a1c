import HTTPTypes

/// The conditions that a request on one item sets on the item's state.
public struct Conditions: Sendable, Hashable {
    /// Whose rule dates are compared by. Only servers of the third generation look at dates.
    public enum DateRule: Sendable, Hashable {
        /// Microsoft.AspNetCore.Datasync: a change at exactly that instant counts as before it.
        case datasync
        /// CommunityToolkit.Datasync.Server: a change at exactly that instant counts as after it.
        case toolkit
    }

    /// What the conditions say of an item.
    public enum Verdict: Sendable, Hashable {
        /// The request may go on.
        case holds
        /// The client has the item as it is: 304 for a read, 412 for a write.
        case known
        /// 412.
        case fails
    }

    /// The versions that the item must have.
    public var ifMatch: IfMatch
    /// The versions that it must not have.
    public var ifNoneMatch: IfMatch
    /// The time after which it must not have changed; looked at only without `ifMatch`.
    public var unmodifiedSince: Instant?
    /// The time after which it must have changed; looked at only without `ifNoneMatch`.
    public var modifiedSince: Instant?
    /// How the two times are compared.
    public var dateRule: DateRule
    /// What a JSON Patch tests: members of the item and the values that they must have.
    public var tests: [Columns.Column]

    /// Makes conditions; without arguments, none.
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

    /// Whether there is no condition.
    public var isEmpty: Bool {
        ifMatch == .absent && ifNoneMatch == .absent && unmodifiedSince == nil
            && modifiedSince == nil && tests.isEmpty
    }

    /// Judges an item by the header fields, in the order in which the third generation's servers do.
    /// - Parameters:
    ///   - versions: the versions under which a client may know the item as it is.
    ///   - changed: the time of its last change.
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
    /// Reads the conditions that servers of the client's generation look at.
    ///
    /// 1. First generation: `If-None-Match` of a read, `If-Match` of a write.
    /// 2. Second: none of a read; of a write `If-Match`, else the version in the body.
    /// 3. Third: all four fields of both. Dates are compared as by the server of the client's family,
    ///    those of `PATCH` as by the only one that has it.
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
            // Several tags and weak ones are fine here.
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
        }
    }

    /// A date that cannot be read is no condition, as HTTP has it.
    private static func date(_ field: String?) -> Instant? {
        field.flatMap { Instant(httpDate: $0) }
    }
}
