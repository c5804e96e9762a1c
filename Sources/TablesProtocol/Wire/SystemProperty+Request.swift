extension SystemProperty {
    /// The system properties that the answer to a client shows: in the first generation those in
    /// `__systemproperties` (a comma list, with or without `__`, or `*`) and those that `$select`
    /// names, later all.
    static func requested(
        _ parameters: [QueryParameter], select: [Expression.Column]?, generation: Generation
    ) throws(TablesError) -> Set<SystemProperty> {
        guard generation == .mobileServices else { return Set(allCases) }
        var properties = Set((select ?? []).compactMap(\.systemProperty))
        for parameter in parameters where parameter.name.lowercased() == "__systemproperties" {
            for part in parameter.value.split(separator: ",") {
                let name = String(part).trimmed
                if name == "*" { return Set(allCases) }
                let full = name.hasPrefix("__") ? String(name) : "__" + name
                guard let property = SystemProperty(named: full, in: generation) else {
                    throw .unknownSystemProperty(String(name))
                }
                properties.insert(property)
            }
        }
        return properties
    }
}

extension Expression.Column {
    /// The system property that the column is, nil for the id and a user's column.
    var systemProperty: SystemProperty? {
        if case .system(let property) = self { property } else { nil }
    }
}
