// `cast` and `isof`. A value that cannot be cast is null, like a value of another type.
extension SQLCompiler {
    /// A boolean, or a text that is `true` or `false`.
    func castBoolean(_ value: Expression) -> SQLFragment {
        switch kind(of: value) {
        case .boolean:
            return boolean(value)
        case .text:
            return .call("odata_boolean", text(value))
        case .json:
            let parsed = SQLFragment.call("odata_boolean", text(value))
            return SQLFragment("ifnull(\(boolean(value).text), \(parsed.text))", parsed.arguments)
        case .null, .number, .guid, .instant, .time, .duration, .place:
            return .null
        }
    }

    /// A number, or a text that is a number, without its fraction if the type is an integer.
    func castNumber(_ value: Expression, _ type: EdmType) -> SQLFragment {
        let number: SQLFragment
        switch kind(of: value) {
        case .number: number = self.number(value)
        case .text: number = text(value)
        case .json: number = json(value, ofTypes: "'integer','real','text'")
        case .null, .boolean, .guid, .instant, .time, .duration, .place: return .null
        }
        guard let range = type.range else { return .call("odata_real", number) }
        return .call(
            "odata_integer", number, .bound(.integer(range.lowerBound)),
            .bound(.integer(range.upperBound)))
    }

    /// A value as text in JSON's form. As a GUID: only a text that is a GUID.
    func castText(_ value: Expression, _ type: EdmType) -> SQLFragment {
        if type == .guid { return .call("odata_guid", text(value)) }
        switch kind(of: value) {
        case .json:
            return jsonPlace(value).map { SQLFragment("odata_string(\($0.text))") } ?? .null
        case .text, .guid:
            return text(value)
        case .boolean:
            let boolean = boolean(value)
            return SQLFragment(
                "CASE \(boolean.text) WHEN 1 THEN 'true' WHEN 0 THEN 'false' END", boolean.arguments
            )
        case .number:
            let number = number(value)
            return SQLFragment("CAST(\(number.text) AS TEXT)", number.arguments)
        case .instant:
            return .call("odata_instanttext", instant(value))
        case .time:
            return .call("odata_timetext", time(value))
        case .duration:
            return .call("odata_durationtext", duration(value))
        case .null, .place:
            return .null
        }
    }

    /// Whether a value has a type: 1 or 0. In JSON, dates, times, GUIDs and bytes are texts of their form.
    func typeTest(_ value: Expression, _ type: EdmType) -> SQLFragment {
        guard kind(of: value) == .json else {
            let isOfKind = kind(of: value) == kind(of: type)
            return test("\(isOfKind ? "1" : "0")", self.value(value))
        }
        switch type {
        case .string:
            return test("\(jsonType(value).text) = 'text'", nil)
        case .boolean:
            return test("\(jsonType(value).text) IN ('true','false')", nil)
        case .decimal, .double, .single:
            return test("\(jsonType(value).text) IN ('integer','real')", nil)
        case .byte, .int16, .int32, .int64:
            return test("\(jsonType(value).text) = 'integer'", castNumber(value, type))
        case .guid:
            return test("1", castText(value, .guid))
        case .binary:
            return test("1", .call("odata_binary", text(value)))
        case .date:
            return test("length(\(json(value).text)) = 10", instant(value))
        case .dateTime, .dateTimeOffset:
            return test("length(\(json(value).text)) > 10", instant(value))
        case .time, .timeOfDay:
            return test("1", time(value))
        case .duration:
            return test("1", duration(value))
        }
    }

    private func test(_ condition: String, _ value: SQLFragment?) -> SQLFragment {
        guard let value else { return SQLFragment("((\(condition)) IS 1)") }
        return SQLFragment(
            "((\(condition) AND \(value.text) IS NOT NULL) IS 1)", value.arguments)
    }
}

extension EdmType {
    /// The integers of the type; nil for types with a fraction and for types that are not numbers.
    var range: ClosedRange<Int64>? {
        switch self {
        case .byte: 0...255
        case .int16: Int64(Int16.min)...Int64(Int16.max)
        case .int32: Int64(Int32.min)...Int64(Int32.max)
        case .int64: Int64.min...Int64.max
        case .binary, .boolean, .date, .dateTime, .dateTimeOffset, .decimal, .double, .duration,
            .guid, .single, .string, .time, .timeOfDay:
            nil
        }
    }
}
