import TablesProtocol

/// What the server of the flavour shows of the rows of a table, in the words of ``ItemWriter``.
struct ShownRows {
    let profile: Profile
    let options: BackendOptions
    /// The table; nil where the request reached none, and then there are no rows.
    let table: StoredTable?
    /// The system properties that a first generation client asked for.
    var asked: Set<SystemProperty>

    /// A writer of rows.
    /// - Parameters:
    ///   - shown: the system properties that are shown where the rows have them; nil for those of a read.
    ///   - select: the names of the shown columns, in lower case; nil for all.
    ///   - fillsColumns: whether columns that a row does not have are shown as null where the table has them.
    func writer(
        showing shown: Set<SystemProperty>? = nil, select: Set<String>? = nil,
        fillsColumns: Bool = true
    ) -> ItemWriter {
        let properties = properties.intersection(shown ?? ofReads(select))
        var writer = ItemWriter(
            generation: profile.generation, properties: properties,
            select: profile.isNode || select != nil || isPlain && fillsColumns
                ? members(properties, select) : nil)
        writer.hidesColumns = false
        if profile.generation == .mobileServices, fillsColumns, !isPlain, let table {
            writer.columns = TableColumns(
                table.knownColumns.map(\.name).filter { !isHidden($0) })
        }
        switch (options.stamps, profile.flavour) {
        case (.subMillisecond, _): writer.times = .exact
        case (_, .dotnet): writer.times = .shortest
        case (_, _): writer.times = .milliseconds
        }
        return writer
    }

    /// A writer of rows for a sender who has written them and may not read them: of the system properties the
    /// version alone.
    func receiptWriter(showsVersion: Bool) -> ItemWriter {
        var writer = ItemWriter(
            generation: profile.generation, properties: showsVersion ? [.version] : [])
        writer.hidesColumns = false
        return writer
    }

    /// A row without the columns whose names the answer has for the server's own.
    /// - Parameter names: the names of the columns that are shown, in lower case; nil for all.
    func item(_ row: Row, only names: Set<String>? = nil) -> Item {
        let all = row.columns.all
        let shown = all.filter {
            !isHidden($0.name) && names?.contains($0.name.lowercased()) != false
        }
        var item = row.item(table?.options.idKind ?? .string)
        // As text, since a table with integer ids has columns of the user's with names of system properties.
        item.columns = Columns(
            stored: (shown.count == all.count ? row.columns : Columns(shown)).text)
        return item
    }

    /// Whether rows have a version.
    var haveVersions: Bool { properties.contains(.version) }

    /// The system properties that rows have.
    private var properties: Set<SystemProperty> {
        if isPlain { return [] }
        var properties = Set(SystemProperty.allCases)
        if options.stamps == .none { properties.remove(.updatedAt) }
        if table.flatMap({ options.table($0.name) })?.hasVersions == false {
            properties.remove(.version)
        }
        if profile.generation == .mobileServices, table?.options.softDelete != true {
            properties.remove(.deleted)
        }
        return properties
    }

    private func ofReads(_ select: Set<String>?) -> Set<SystemProperty> {
        guard profile.generation == .mobileServices else { return Set(SystemProperty.allCases) }
        let selected = SystemProperty.allCases.filter {
            select?.contains($0.name(in: .mobileServices)?.lowercased() ?? "") == true
        }
        return asked.union(selected)
    }

    /// The members of an object in their order. The Node server writes the declared columns, then those of the
    /// server, then those that writes added.
    private func members(
        _ properties: Set<SystemProperty>, _ select: Set<String>?
    ) -> [Expression.Column] {
        let system = SystemProperty.allCases.filter(properties.contains).map {
            Expression.Column.system($0)
        }
        let user = { (columns: [TableOptions.Column]) in
            columns.filter { !isHidden($0.name) }.map { Expression.Column.user(path: [$0.name]) }
        }
        let known = user(table?.knownColumns ?? [])
        let declared = profile.isNode ? user(table?.options.columns ?? []) : []
        let members =
            profile.isNode
            ? declared + [.id] + system + known.dropFirst(declared.count) : [.id] + known + system
        guard let select else { return members }
        return members.filter {
            let name = $0.name(in: profile.generation) ?? ""
            return select.contains(name.lowercased())
                || $0.systemProperty.map(asked.contains) == true
        }
    }

    private var isPlain: Bool { table?.isPlain(profile.generation) == true }

    private func isHidden(_ column: String) -> Bool {
        profile.hides(column, table?.options.idKind ?? .string)
    }
}

extension Row {
    /// The row as an item, in no flavour's form. The id was judged when it was taken.
    func item(_ idKind: IDKind) -> Item {
        Item(
            id: ItemID(stored: id, kind: idKind), columns: columns, createdAt: createdAt,
            updatedAt: updatedAt, version: version, deleted: deleted)
    }
}

extension SystemProperty {
    /// The system properties that a request asks for; only clients of the first generation do.
    /// - Throws: a refusal for a name that is none.
    static func asked(_ call: Call, _ profile: Profile) throws(Refusal) -> Set<SystemProperty> {
        guard profile.generation == .mobileServices,
            let text = call.parameter(anyCase: "__systemproperties")
        else { return [] }
        do throws(TablesError) { return try listed(text) } catch {
            throw Refusal(400, error.sentence(in: .mobileServices))
        }
    }
}
