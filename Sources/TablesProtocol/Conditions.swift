/// What a request on one item makes the item's state a condition of.
public struct Conditions: Sendable, Hashable {
    /// Which of the third generation's servers a date is compared like. The other generations look
    /// at no dates.
    public enum DateRule: Sendable, Hashable {
        /// Microsoft.AspNetCore.Datasync: a change at the very instant counts as before it.
        case datasync
        /// CommunityToolkit.Datasync.Server: a change at the very instant counts as after it.
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
