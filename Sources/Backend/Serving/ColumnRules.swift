import TablesProtocol

/// The rules that turn the columns of a write into stored ones.
struct ColumnRules {
    /// The columns known so far, by their names in lower case.
    private var known: [ExactName: TableOptions.Column]
    /// Whether the table takes no further columns.
    let isFixed: Bool
    /// The rules of the flavour.
    let profile: Profile
    /// The columns that this write adds to the table.
    private(set) var new: [TableOptions.Column] = []

    init(known: [TableOptions.Column], isFixed: Bool, profile: Profile) {
        self.known = Dictionary(
            known.map { (ExactName(lowercasing: $0.name), $0) }, uniquingKeysWith: { $1 })
        self.isFixed = isFixed
        self.profile = profile
    }

    /// The columns as they are stored, each in the spelling that the table knows. The Node server's
    /// tables are typed: a value becomes one of the column's type, and a column that begins with null
    /// does not come into being. Where columns are fixed, .NET of the second generation refuses others
    /// and the third leaves them out.
    mutating func keep(_ columns: Columns) throws(Refusal) -> Columns {
        var kept: [Columns.Column] = []
        for column in columns.all {
            let key = ExactName(lowercasing: column.name)
            let old = known[key]
            if let refusal = refusal(column) { throw refusal }
            if isFixed, old == nil {
                guard profile.flavour == .dotnet else { continue }
                throw Refusal(400, "Could not find member '\(column.name)' on the object.")
            }
            // Each request reads the names of all columns of its table.
            if old == nil, Self.isTooLong(column.name) { throw Refusal.longColumnName }
            guard let type = old?.type ?? Self.type(column.value) else {
                if profile.flavour == .mobileServices {
                    throw Refusal(
                        400, "Unable to insert a null value for new property '\(column.name)'")
                }
                if !profile.isNode { kept.append(column) }
                continue
            }
            if old == nil {
                let added = TableOptions.Column(column.name, type)
                known[key] = added
                new.append(added)
            }
            let value = profile.isNode ? Self.convert(column.value, type) : column.value
            kept.append(Columns.Column(old?.name ?? column.name, value))
        }
        return Columns(kept)
    }

    /// The Node server's sentence about the name of a column.
    static func invalidIdentifier(_ name: String) -> String {
        "\(name) is not a valid identifier. Identifiers must be under 128 characters in length,"
            + " start with a letter or underscore, and can contain only alpha-numeric and"
            + " underscore characters."
    }

    /// The first generation's sentence about the name of a column.
    static func notIdentifier(_ name: String) -> String { invalidIdentifier("'\(name)'") }

    /// Whether servers in JavaScript allow the name for a column.
    static func isIdentifier(_ name: String) -> Bool {
        name.utf8.count <= Limits.columnNameCharacters && TableName(name) != nil
            && !name.utf8.contains(UInt8(ascii: "-"))
    }

    /// Whether a name is longer than that of a column may be.
    static func isTooLong(_ name: String) -> Bool {
        name.utf16.count > Limits.columnNameCharacters
    }

    private func refusal(_ column: Columns.Column) -> Refusal? {
        switch (profile.flavour, column.value.value) {
        case (.node, .object), (.node, .array), (.express, .object), (.express, .array):
            return Refusal(500, "Unsupported type: Object")
        case (.mobileServices, _) where !Self.isIdentifier(column.name):
            return Refusal(400, Self.notIdentifier(column.name))
        case (.mobileServices, .object), (.mobileServices, .array):
            return Refusal(
                400,
                "The value of property '\(column.name)' is of type 'object' which is not a"
                    + " supported type.")
        case (.node, _), (.express, _):
            return Self.isIdentifier(column.name)
                ? nil : Refusal(500, Self.invalidIdentifier(column.name))
        case (.mobileServices, _), (.mobileApps, _), (.dotnet, _), (.datasync, _), (.toolkit, _):
            return nil
        }
    }

    /// The type of a column that begins with a value; nil for null, which says nothing of it.
    static func type(_ value: JSONText) -> TableOptions.ColumnType? {
        switch value.value {
        case .null: nil
        case .bool: .boolean
        case .number: .number
        case .string, .array, .object: .string
        }
    }

    /// JavaScript's idea of the value in a column of the type.
    private static func convert(
        _ value: JSONText, _ type: TableOptions.ColumnType
    ) -> JSONText {
        switch (value.value, type) {
        case (.null, _), (.bool, .boolean), (.string, .string): value
        case (.number(let number), .boolean): .bool(number.integer != 0)
        case (.string(let text), .boolean): .bool(!text.isEmpty)
        case (.number(let number), .number), (.number(let number), .string):
            type == .number ? ScriptNumber.text(number) : .string(number.text)
        case (.bool(let value), .number): .integer(value ? 1 : 0)
        case (.bool(let value), .string): .string(value ? "1" : "0")
        case (.string(let text), .number):
            JSONNumber(text).map(ScriptNumber.text) ?? value
        case (.array, _), (.object, _): value
        }
    }
}

extension Columns {
    /// The columns as the first generation's server holds them before it stores them: numbers are
    /// binary doubles, those beyond a double are left out, and texts in the form of a moment are
    /// moments, written with milliseconds.
    var scripted: Columns {
        Columns(
            all.compactMap { column in
                switch column.value.value {
                case .number(let number) where column.name != "id":
                    ScriptNumber.text(number).isNull
                        ? nil : Column(column.name, ScriptNumber.text(number))
                case .string(let text) where column.name != "id":
                    Column(column.name, Self.moment(text).map { .string($0.text) } ?? column.value)
                case .null, .bool, .number, .string, .array, .object: column
                }
            })
    }

    /// `2014-03-01T08:00:00Z` with or without three digits of a second, or `/Date(1336003790912+0100)/`. That
    /// server adds the offset to the milliseconds, where ``Instant/init(parsing:)`` ignores it. Milliseconds
    /// that no instant has are no moment.
    private static func moment(_ text: String) -> Instant? {
        if text.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z/) != nil {
            return Instant(iso: text)
        }
        guard let match = text.wholeMatch(of: /\/Date\((-?\d+)((?:[+-]\d\d(?:\d\d)?)?)\)\//),
            let milliseconds = Int64(match.1)
        else { return nil }
        let digits = match.2.dropFirst()
        let minutes =
            (Int64(digits.prefix(2)) ?? 0) * 60 + (Int64(digits.dropFirst(2)) ?? 0)
        let offset = (match.2.first == "-" ? -minutes : minutes) * 60_000
        let (sum, isTooBig) = milliseconds.addingReportingOverflow(offset)
        let instant = Instant(milliseconds: sum)
        return isTooBig || instant.milliseconds != sum ? nil : instant
    }
}
