import TablesProtocol

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

    /// `2014-03-01T08:00:00Z` with or without three digits of a second, or `/Date(1336003790912)/`.
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
        return Instant(
            milliseconds: milliseconds + (match.2.first == "-" ? -minutes : minutes) * 60_000)
    }
}
