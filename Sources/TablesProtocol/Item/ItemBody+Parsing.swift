extension ItemBody {
    /// Takes apart the JSON object that a client of the generation sent.
    ///
    /// System properties are taken out and, but for the version of the second generation and the
    /// deleted mark of the third, dropped: SDKs send them where real servers would refuse them.
    /// - Throws: ``TablesError`` for malformed JSON, anything but one object, and a bad id.
    public static func parse(
        _ bytes: [UInt8], generation: Generation
    ) throws(TablesError) -> ItemBody {
        let columns: Columns
        do throws(JSONError) { columns = try Columns(parsing: bytes) } catch {
            throw error.reason == .notAnObject ? .notAnObject : .malformedJSON(error)
        }
        var body = ItemBody(columns: Columns())
        var kept: [Columns.Column] = []
        for column in columns.all {
            if column.name.utf8.count == 2, column.name.lowercased() == "id" {
                body.id = try id(column)
            } else if let property = SystemProperty(named: column.name, in: generation) {
                body.take(property, column.value, generation)
            } else if generation == .mobileServices, column.name.hasPrefix("__") {
                throw .reservedProperty(column.name)
            } else {
                kept.append(column)
            }
        }
        body.columns = Columns(unique: kept)
        return body
    }

    private mutating func take(
        _ property: SystemProperty, _ value: JSONText, _ generation: Generation
    ) {
        hadReservedProperties = true
        switch property {
        case .version where generation == .mobileApps:
            version = value.string.flatMap { $0.isEmpty ? nil : $0 }
        case .deleted where generation == .datasync: deleted = value.value.bool
        case .createdAt, .updatedAt, .version, .deleted: break
        }
    }

    private static func id(_ column: Columns.Column) throws(TablesError) -> ItemID? {
        guard column.name == "id" else {
            throw .badRequest("Item identifiers can only be specified via the 'id' property.")
        }
        switch column.value.value {
        case .null: return nil
        case .number(let number):
            guard let integer = number.integer else { throw .invalidID(nil) }
            return integer == 0 ? nil : ItemID(integer)
        case .string(let text):
            if text.isEmpty { return nil }
            do throws(ItemID.Refusal) { return try ItemID(text) } catch { throw .invalidID(error) }
        case .bool, .array, .object: throw .invalidID(nil)
        }
    }
}
