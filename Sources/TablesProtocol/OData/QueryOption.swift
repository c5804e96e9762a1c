/// The options of a list that servers know by name.
enum QueryOption: String, CaseIterable {
    case filter = "$filter"
    case orderBy = "$orderby"
    case top = "$top"
    case skip = "$skip"
    case select = "$select"
    case inlineCount = "$inlinecount"
    case count = "$count"
    case includeDeleted = "__includedeleted"
    case systemProperties = "__systemproperties"
    /// Understudy's own, in the next links that it gives.
    case after = "__after"

    /// The option that a parameter's name means to a server of a generation.
    ///
    /// Names with two underscores match in any case everywhere. Generations 1 and 2 know `$…` in
    /// lower case only and have no `$count`; the OData library behind generation 3 takes any case,
    /// and the names without `$`.
    init?(name: String, generation: Generation) {
        let lower = name.lowercased()
        if lower.hasPrefix("__") {
            self.init(rawValue: lower)
            return
        }
        switch generation {
        case .mobileServices, .mobileApps:
            self.init(rawValue: name)
            if self == .count { return nil }
        case .datasync:
            self.init(rawValue: lower.hasPrefix("$") ? lower : "$" + lower)
        }
    }
}
