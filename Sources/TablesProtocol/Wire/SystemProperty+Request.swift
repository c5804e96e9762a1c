extension SystemProperty {
    /// The system properties that the answer to a client shows: in the first generation those in
    /// `__systemproperties` and those that `$select` names, later all.
    static func requested(
        _ parameters: [QueryParameter], select: [Expression.Column]?, generation: Generation
    ) throws(TablesError) -> Set<SystemProperty> {
        guard generation == .mobileServices else { return Set(allCases) }
        var properties = Set((select ?? []).compactMap(\.systemProperty))
        for parameter in parameters where parameter.name.lowercased() == "__systemproperties" {
            properties.formUnion(try listed(parameter.value))
        }
        return properties
    }

    /// Reads the value of `__systemproperties` as azure-mobile-services-node does (`runtime/core.js`):
    /// `*` alone is all; else a list with commas, each name in any case, with or without `__`, white
    /// space around it and empty parts left out.
    /// - Throws: ``TablesError/unknownSystemProperty(_:)`` for any other part, `*` among others too.
    static func listed(_ value: String) throws(TablesError) -> Set<SystemProperty> {
        let parts = value.split(separator: ",", omittingEmptySubsequences: false)
        if parts.count == 1, value.withoutOuterSpace == "*" { return Set(allCases) }
        var properties: Set<SystemProperty> = []
        for part in parts {
            let name = part.withoutOuterSpace
            if name.isEmpty { continue }
            let full = name.hasPrefix("__") ? name : "__" + name
            guard let property = SystemProperty(named: full, in: .mobileServices) else {
                throw .unknownSystemProperty(String(part))
            }
            properties.insert(property)
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
