/// What a comparison is whose one side has no value; see docs/decisions, "Filters follow the server of
/// the client's generation".
public enum NullComparison: Sendable, Hashable, CaseIterable {
    /// Neither true nor false, as in SQL: `text ne 'a'` leaves out rows without `text`.
    case unknown
    /// True or false, as in C#: null equals null alone, so `text ne 'a'` finds rows without `text`, and
    /// is neither less nor greater.
    case decided

    /// The rule of a generation's servers.
    public init(_ generation: Generation) {
        switch generation {
        case .mobileServices, .mobileApps: self = .unknown
        case .datasync: self = .decided
        }
    }
}
