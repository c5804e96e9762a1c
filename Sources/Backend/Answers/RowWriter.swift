import TablesProtocol

/// Writes rows as JSON in the form of the flavour.
struct RowWriter {
    let profile: Profile
    let stamps: BackendOptions.Stamps
    let hasVersions: Bool
    /// The table; nil where the request reached none, and then there are no rows.
    let table: StoredTable?
    /// The system properties that a first generation client asked for.
    var asked: Set<SystemProperty>
    /// Whether columns that the row does not have are shown as null where the table has them.
    var fillsColumns = true

    /// The row as a client that asks for it sees it; `select` holds names in lower case.
    func bytes(_ row: Row, select: Set<String>?) -> [UInt8] {
        let members = members(row) { property in
            profile.generation != .mobileServices || asks(property)
                || select?.contains(property.name(in: .mobileServices)?.lowercased() ?? "") == true
        }
        guard let select else { return object(members) }
        let named = Set(asked.compactMap { $0.name(in: .mobileServices) })
        return object(
            members.filter { named.contains($0.name) || select.contains($0.name.lowercased()) })
    }

    /// The row with every system property.
    func whole(_ row: Row) -> [UInt8] { object(members(row) { _ in true }) }

    /// The row for a sender who has written it and may not read it: its id, of its columns those that were
    /// sent (`names`, in lower case), and its version where ``bytes(_:select:)`` has it.
    func receipt(_ row: Row, sent names: Set<String>) -> [UInt8] {
        let own = shownColumns(row).filter { names.contains($0.name.lowercased()) }
        let isPlain = table?.isPlain(profile.generation) ?? false
        let shown = { (property: SystemProperty) in
            property == .version && (profile.generation != .mobileServices || asks(.version))
        }
        return object([id(row)] + own + (isPlain ? [] : systemMembers(row, shown)))
    }

    private func id(_ row: Row) -> Columns.Column {
        let number = table?.options.idKind == .integer ? Int64(row.id) : nil
        return Columns.Column("id", number.map(JSONText.integer) ?? .string(row.id))
    }

    /// The user's columns without those whose names the answer has for the server's own.
    private func shownColumns(_ row: Row) -> [Columns.Column] {
        row.columns.all.filter { !isHidden($0.name) }
    }

    private func isHidden(_ column: String) -> Bool {
        profile.hides(column, table?.options.idKind ?? .string)
    }

    /// Whether a first generation client asked for the property.
    func asks(_ property: SystemProperty) -> Bool { asked.contains(property) }

    private func members(_ row: Row, _ shows: (SystemProperty) -> Bool) -> [Columns.Column] {
        let id = id(row)
        let isPlain = table?.isPlain(profile.generation) ?? false
        let system = isPlain ? [] : systemMembers(row, shows)
        if profile.generation == .mobileServices, fillsColumns, let table {
            let known = Set(row.columns.names.map { $0.lowercased() })
            let others = table.knownColumns.filter {
                !known.contains($0.name.lowercased()) && !isHidden($0.name)
            }
            return [id] + shownColumns(row) + others.map { Columns.Column($0.name, .null) } + system
        }
        guard profile.isNode else { return [id] + shownColumns(row) + system }
        // Node: the declared columns, then those of the server, then those that writes added.
        let values = Dictionary(
            row.columns.all.map { ($0.name, $0.value) }, uniquingKeysWith: { $1 })
        let value = { (column: TableOptions.Column) in
            Columns.Column(column.name, values[column.name] ?? .null)
        }
        let declared = table?.options.columns.map(value) ?? []
        let seen = table?.seenColumns.filter { !isHidden($0.name) } ?? []
        return declared + [id] + system + seen.map(value)
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
            case .version:
                return hasVersions ? Columns.Column(name, .string(row.version)) : nil
            case .deleted:
                let isKept =
                    profile.generation != .mobileServices || table?.options.softDelete == true
                return isKept ? Columns.Column(name, .bool(row.deleted)) : nil
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

    private func object(_ members: [Columns.Column]) -> [UInt8] {
        var bytes = Array("{".utf8)
        for member in members {
            if bytes.count > 1 { bytes += ",".utf8 }
            bytes.appendJSONString(member.name)
            bytes += ":".utf8
            bytes += member.value.text.utf8
        }
        return bytes + "}".utf8
    }

    /// Rows in a list.
    static func list(_ rows: [[UInt8]]) -> [UInt8] {
        "[".utf8 + Array(rows.joined(separator: ",".utf8)) + "]".utf8
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
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        let isBlank = { (character: Character) in character.isWhitespace }
        if parts.count == 1, text.filter({ !isBlank($0) }) == "*" {
            return Set(SystemProperty.allCases)
        }
        for part in parts where !part.allSatisfy(isBlank) {
            var name = part.drop(while: isBlank)
            while name.last.map(isBlank) == true { name.removeLast() }
            let full = name.hasPrefix("__") ? String(name) : "__" + name
            guard let property = SystemProperty(named: full, in: .mobileServices) else {
                throw Refusal(400, "The value '\(part)' is not a supported system property.")
            }
            asked.insert(property)
        }
        return asked
    }
}
