import TablesProtocol

/// The JSON object of a write, taken apart.
struct Sent: Sendable {
    /// The id in it: absent, null, empty and, in a table with integer ids, 0 are none.
    var id: String?
    /// The user's columns in their order.
    var columns = Columns()
    /// The version in it.
    var version: String?
    /// The time of the last change in it, which servers of the third generation compare.
    var updatedAt: String?
    /// The JSON Patch that it came in; nil when it came as an object.
    var patch: JSONPatch?
    /// The deleted mark in it.
    var deleted: Bool?
    /// The whole object as it came.
    var all: Columns

    /// Takes the object apart as a server of the profile does.
    init(_ all: Columns, _ profile: Profile, _ options: TableOptions) throws(Refusal) {
        let all = profile.generation == .mobileServices ? all.scripted : all
        self.all = all
        var user: [Columns.Column] = []
        for column in all.all {
            if column.name == "id" {
                id = try Self.id(column.value, profile, options)
            } else if profile.generation == .mobileServices, column.name.lowercased() == "id" {
                throw Refusal(
                    400, "Item identifiers can only be specified via the 'id' property.")
            } else if let property = Self.property(column.name, profile, options) {
                try take(property, column, profile)
            } else {
                user.append(column)
            }
        }
        columns = Columns(user)
    }

    private mutating func take(
        _ property: SystemProperty, _ column: Columns.Column, _ profile: Profile
    ) throws(Refusal) {
        switch (property, profile.reserved, profile.generation) {
        case (_, .refused, .mobileServices):
            throw Refusal(
                400,
                "The property '\(column.name)' can not be set. Properties that begin with a '__'"
                    + " are considered system properties.")
        case (.version, _, _): version = column.value.string
        case (_, .refused, _):
            throw Refusal(
                400, "Cannot update item with property '\(column.name)' as it is reserved")
        case (.deleted, .dropped, _): deleted = column.value.value.bool
        case (.updatedAt, .dropped, _): updatedAt = column.value.string
        case (.createdAt, .dropped, _): break
        }
    }

    /// The first generation takes every name that begins with `__` for a property of the server,
    /// but has none at all in tables with integer ids.
    private static func property(
        _ name: String, _ profile: Profile, _ options: TableOptions
    ) -> SystemProperty? {
        guard profile.generation == .mobileServices else {
            return SystemProperty(named: name, in: profile.generation)
        }
        guard options.idKind == .string, name.hasPrefix("__") else { return nil }
        return SystemProperty(named: name, in: .mobileServices) ?? .version
    }

    private static func id(
        _ value: JSONText, _ profile: Profile, _ options: TableOptions
    ) throws(Refusal) -> String? {
        switch value.value {
        case .null: return nil
        case .string(let text): return text.isEmpty ? nil : text
        case .number(let number):
            let isNone = options.idKind == .integer || profile.isNode
            return isNone && number.integer == 0 ? nil : number.text
        case .bool(false) where profile.isNode: return nil
        case .bool, .array, .object:
            throw Refusal(400, "The value specified for property 'id' is invalid.")
        }
    }
}
