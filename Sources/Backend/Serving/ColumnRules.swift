import TablesProtocol

/// What the columns of a write become when they are stored.
struct ColumnRules {
    /// The columns known so far.
    let known: [TableOptions.Column]
    /// Whether no others can be added.
    let isFixed: Bool
    /// How the flavour decides.
    let profile: Profile
    /// The columns that this write adds to the table.
    private(set) var new: [TableOptions.Column] = []

    init(known: [TableOptions.Column], isFixed: Bool, profile: Profile) {
        self.known = known
        self.isFixed = isFixed
        self.profile = profile
    }

    /// The columns as they are stored. The Node server's tables are typed: a value becomes one of
    /// the column's type, and a column that begins with null does not come into being. Where columns
    /// are fixed, .NET of the second generation refuses others and the third leaves them out.
    mutating func keep(_ columns: Columns) throws(Refusal) -> Columns {
        var kept: [Columns.Column] = []
        for column in columns.all {
            let name = column.name.lowercased()
            let old = (known + new).first { $0.name.lowercased() == name }
            if let refusal = refusal(column) { throw refusal }
            if isFixed, old == nil {
                guard profile.flavour == .dotnet else { continue }
                throw Refusal(400, "Could not find member '\(column.name)' on the object.")
            }
            guard let type = old?.type ?? Self.type(column.value) else {
                if profile.flavour == .mobileServices {
                    throw Refusal(
                        400, "Unable to insert a null value for new property '\(column.name)'")
                }
                if !profile.isNode { kept.append(column) }
                continue
            }
            if old == nil { new.append(TableOptions.Column(column.name, type)) }
            kept.append(profile.isNode ? Self.convert(column, old?.name, type) : column)
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

    /// Whether servers in JavaScript take the name for a column's.
    static func isIdentifier(_ name: String) -> Bool {
        name.utf8.count <= Limits.columnNameCharacters && TableName(name) != nil
            && !name.utf8.contains(UInt8(ascii: "-"))
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

    private static func type(_ value: JSONText) -> TableOptions.ColumnType? {
        switch value.value {
        case .null: nil
        case .bool: .boolean
        case .number: .number
        case .string, .array, .object: .string
        }
    }

    private static func convert(
        _ column: Columns.Column, _ name: String?, _ type: TableOptions.ColumnType
    ) -> Columns.Column {
        Columns.Column(name ?? column.name, convert(column.value, type))
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
