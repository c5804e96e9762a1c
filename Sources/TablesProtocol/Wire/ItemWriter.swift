/// Writes items as JSON in a client's generation by splicing the raw text of their columns.
struct ItemWriter {
    private let generation: Generation
    private let names: Names
    private let select: [Expression.Column]?

    /// - Parameters:
    ///   - properties: the system properties that are shown; besides those in the select they
    ///     count in the first generation only.
    ///   - select: the columns that are shown, in order; nil for all.
    init(
        generation: Generation, properties: Set<SystemProperty>, select: [Expression.Column]? = nil
    ) {
        self.generation = generation
        switch generation {
        case .mobileServices:
            let asked = SystemProperty.allCases.filter(properties.contains)
            self.select = select.map { $0 + asked.map(Expression.Column.system) }
        case .mobileApps, .datasync: self.select = select
        }
        names = Names(generation: generation, shown: properties)
    }

    /// The JSON text `,"name":` of each system property that is shown, made once for all items.
    private struct Names {
        let createdAt, updatedAt, version, deleted: [UInt8]?

        init(generation: Generation, shown: Set<SystemProperty>) {
            func text(_ property: SystemProperty) -> [UInt8]? {
                guard shown.contains(property), let name = property.name(in: generation) else {
                    return nil
                }
                return Array(",\"\(name)\":".utf8)
            }
            createdAt = text(.createdAt)
            updatedAt = text(.updatedAt)
            version = text(.version)
            deleted = text(.deleted)
        }
    }

    /// Whether the written items carry their version.
    var showsVersion: Bool {
        guard generation == .mobileApps, let select else { return names.version != nil }
        return select.contains(.system(.version))
    }

    /// Appends one item as a JSON object.
    func write(_ item: Item, to bytes: inout [UInt8]) {
        if let select {
            write(item, select, to: &bytes)
            return
        }
        // The system properties come last: where a user's column of another generation has the
        // name of one, readers that keep the last of two take the server's.
        bytes += "{\"id\":".utf8
        write(item.id, to: &bytes)
        item.columns.appendMembers(to: &bytes)
        if let name = names.createdAt {
            bytes += name
            write(item.createdAt ?? item.updatedAt, to: &bytes)
        }
        if let name = names.updatedAt {
            bytes += name
            write(item.updatedAt, to: &bytes)
        }
        if let name = names.version {
            bytes += name
            bytes.appendJSONString(item.version)
        }
        if let name = names.deleted {
            bytes += name
            bytes += (item.deleted ? "true" : "false").utf8
        }
        bytes.append(UInt8(ascii: "}"))
    }

    private func write(_ item: Item, _ select: [Expression.Column], to bytes: inout [UInt8]) {
        let columns = item.columns.all
        var written = NameTable()
        var separator = UInt8(ascii: "{")
        for column in select {
            guard let name = column.selectedName(in: generation), written.insert(name, at: 0) == nil
            else {
                continue
            }
            bytes.append(separator)
            separator = UInt8(ascii: ",")
            bytes.appendJSONString(name)
            bytes.append(UInt8(ascii: ":"))
            write(column, name, item, columns, to: &bytes)
        }
        if separator == UInt8(ascii: "{") { bytes.append(separator) }
        bytes.append(UInt8(ascii: "}"))
    }

    private func write(
        _ column: Expression.Column, _ name: String, _ item: Item, _ columns: [Columns.Column],
        to bytes: inout [UInt8]
    ) {
        switch column {
        case .id: write(item.id, to: &bytes)
        case .system(.createdAt): write(item.createdAt ?? item.updatedAt, to: &bytes)
        case .system(.updatedAt): write(item.updatedAt, to: &bytes)
        case .system(.version): bytes.appendJSONString(item.version)
        case .system(.deleted): bytes += (item.deleted ? "true" : "false").utf8
        case .user:
            let exact = columns.first { $0.name.hasSameBytes(as: name) }
            let found = exact ?? columns.first { $0.name.lowercased() == name.lowercased() }
            bytes += (found?.value ?? .null).text.utf8
        }
    }

    private func write(_ id: ItemID, to bytes: inout [UInt8]) {
        switch id.kind {
        case .integer: bytes += id.text.utf8
        case .string:
            // An id has nothing that JSON escapes.
            bytes.append(UInt8(ascii: "\""))
            bytes += id.text.utf8
            bytes.append(UInt8(ascii: "\""))
        }
    }

    private func write(_ instant: Instant, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        instant.appendText(to: &bytes)
        bytes.append(UInt8(ascii: "\""))
    }
}

extension Expression.Column {
    /// The member that a select of the column gives: of a path, its first name.
    fileprivate func selectedName(in generation: Generation) -> String? {
        switch self {
        case .id, .system: name(in: generation)
        case .user(let path): path.first
        }
    }
}
