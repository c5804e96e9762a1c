import TablesProtocol

/// Writes rows as JSON in the form of the flavour.
struct RowWriter {
    let profile: Profile
    let stamps: BackendOptions.Stamps
    /// The table; nil where the request reached none, and then there are no rows.
    let table: TableRecord?
    /// The system properties that a first generation client asked for.
    var asked: Set<SystemProperty>

    /// The row as a client that asks for it sees it; `select` holds names in lower case.
    func text(_ row: Row, select: Set<String>?) -> String {
        let members = members(row) { property in
            profile.generation != .mobileServices || asks(property)
                || select?.contains(property.name(in: .mobileServices)?.lowercased() ?? "") == true
        }
        return object(members.filter { select?.contains($0.name.lowercased()) ?? true })
    }

    /// The row with every system property.
    func whole(_ row: Row) -> String { object(members(row) { _ in true }) }

    /// Whether a first generation client asked for the property.
    func asks(_ property: SystemProperty) -> Bool { asked.contains(property) }

    private func members(_ row: Row, _ shows: (SystemProperty) -> Bool) -> [Columns.Column] {
        let number = table?.options.idKind == .integer ? Int64(row.id) : nil
        let id = Columns.Column("id", number.map(JSONText.integer) ?? .string(row.id))
        let isPlain = table?.isPlain(profile.generation) ?? false
        let system = isPlain ? [] : systemMembers(row, shows)
        guard profile.isNode else { return [id] + row.columns.all + system }
        // Node: the declared columns, then those of the server, then those that writes added.
        let value = { (column: TableOptions.Column) in
            Columns.Column(column.name, row.columns[column.name] ?? .null)
        }
        let declared = table?.options.columns.map(value) ?? []
        return declared + [id] + system + (table?.seenColumns.map(value) ?? [])
    }

    private func systemMembers(
        _ row: Row, _ shows: (SystemProperty) -> Bool
    ) -> [Columns.Column] {
        SystemProperty.allCases.filter(shows).compactMap { property in
            guard let name = property.name(in: profile.generation) else { return nil }
            switch property {
            case .createdAt: return Columns.Column(name, .string(text(row.createdAt)))
            case .updatedAt:
                return stamps == .none
                    ? nil : Columns.Column(name, .string(text(row.updatedAt)))
            case .version: return Columns.Column(name, .string(row.version))
            case .deleted: return Columns.Column(name, .bool(row.deleted))
            }
        }
    }

    private func text(_ instant: Instant) -> String {
        switch (stamps, profile.flavour) {
        case (.subMillisecond, _): return InstantLiteral(instant).text
        case (_, .dotnet):
            var text = instant.text.dropLast()
            while text.hasSuffix("0") { text = text.dropLast() }
            if text.hasSuffix(".") { text = text.dropLast() }
            return text + "Z"
        case (_, _): return instant.text
        }
    }

    private func object(_ members: [Columns.Column]) -> String {
        let pairs = members.map { "\(JSONText.string($0.name).text):\($0.value.text)" }
        return "{\(pairs.joined(separator: ","))}"
    }
}

extension RowWriter {
    /// The system properties in a request's `__systemproperties`.
    /// - Throws: a refusal for a name that is none.
    static func asked(_ call: Call, _ profile: Profile) throws(Refusal) -> Set<SystemProperty> {
        guard profile.generation == .mobileServices,
            let text = call.parameter(anyCase: "__systemproperties")
        else { return [] }
        var asked: Set<SystemProperty> = []
        // As JavaScript splits and trims; the star counts only when nothing stands beside it.
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        for part in parts {
            let name = String(
                part.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
            if name.isEmpty { continue }
            if name == "*", parts.count == 1 { return Set(SystemProperty.allCases) }
            let full = name.hasPrefix("__") ? name : "__" + name
            guard let property = SystemProperty(named: full, in: .mobileServices) else {
                throw Refusal(400, "The value '\(part)' is not a supported system property.")
            }
            asked.insert(property)
        }
        return asked
    }
}
