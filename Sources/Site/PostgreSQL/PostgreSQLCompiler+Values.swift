import TablesProtocol

extension PostgreSQLCompiler {
    /// The names of a path as the rows have them.
    func spelled(_ path: [String]) -> [String] {
        path.enumerated().map { place, name in
            PostgreSQLContent.escaped(place == 0 ? types.spelling(name) : name)
        }
    }

    /// A user's column as jsonb; null for a JSON null. Nil for anything else.
    func json(_ expression: Expression) -> SQLFragment? {
        switch expression {
        case .column(.user(let path)): return Self.notNull(Self.inside("content", spelled(path)))
        case .column, .literal, .unary, .binary, .logical, .call, .inList:
            return nil
        }
    }

    private static func inside(_ source: String, _ path: [String]) -> SQLFragment {
        let steps = path.map { _ in " -> ?::text" }.joined()
        return SQLFragment("(\(source)\(steps))", path.map { .text($0) })
    }

    private static func notNull(_ value: SQLFragment) -> SQLFragment {
        SQLFragment("nullif(\(value.text), 'null'::jsonb)", value.arguments)
    }

    /// The date or time that the text of a user's column stands for, as jsonb.
    func jsonMoment(_ expression: Expression) throws(Beyond) -> SQLFragment {
        guard case .column(.user(let path)) = expression else { throw Beyond() }
        return Self.inside("moments", spelled(path))
    }

    /// `CASE jsonb_typeof(value) WHEN … END`, the value written where `*` stands.
    private static func byType(_ value: SQLFragment, _ cases: String) -> SQLFragment {
        let count = cases.count { $0 == "*" } + 1
        return SQLFragment(
            "CASE jsonb_typeof(\(value.text)) \(cases.replacing("*", with: value.text)) END",
            Array(repeating: value.arguments, count: count).flatMap { $0 })
    }

    static func bound(_ text: String) -> SQLFragment {
        SQLFragment("(?::text COLLATE \"C\")", [.text(PostgreSQLContent.escaped(text))])
    }

    /// What to test for null, and to order by where it is no user's column.
    func value(_ expression: Expression) throws(Beyond) -> SQLFragment {
        switch types.kind(of: expression) {
        case .null: return SQLFragment("NULL::text")
        case .json: return json(expression) ?? SQLFragment("NULL::jsonb")
        case .boolean: return try truth(expression)
        case .number: return try number(expression)
        case .text, .guid: return try text(expression)
        case .instant: return try instant(expression)
        case .time: return try time(expression)
        }
    }

    /// What to order by: of a user's column numbers and truths before texts, each by its value.
    func orderValues(_ expression: Expression) throws(Beyond) -> [SQLFragment] {
        if let stamp = types.stamp(expression)?.text {
            return [SQLFragment(hasExactStamps && stamp == "stamp" ? "stamp_ticks" : stamp)]
        }
        guard types.kind(of: expression) == .json, let json = json(expression) else {
            return [try value(expression)]
        }
        return [
            Self.byType(
                json,
                """
                WHEN 'number' THEN 1 WHEN 'boolean' THEN 1 WHEN 'string' THEN 2 \
                WHEN 'array' THEN 2 WHEN 'object' THEN 2
                """),
            Self.orderNumber(json),
            orderText(expression, json).suffixed("COLLATE \"C\""),
        ]
    }

    /// The number that a number or a truth is ordered by.
    static func orderNumber(_ json: SQLFragment) -> SQLFragment {
        byType(
            json,
            """
            WHEN 'number' THEN *::numeric \
            WHEN 'boolean' THEN (* = 'true'::jsonb)::integer::numeric
            """)
    }

    /// The text to order a user's column by: of a date that of its instant in UTC (``Instant/sortedText``).
    private func orderText(_ expression: Expression, _ json: SQLFragment) -> SQLFragment {
        let text = Self.byType(
            json,
            """
            WHEN 'string' THEN * #>> '{}' WHEN 'array' THEN *::text WHEN 'object' THEN *::text
            """)
        guard let moment = try? jsonMoment(expression) else { return text }
        let (day, second) = (Instant.ticksPerDay, Instant.ticksPerSecond)
        let date = Self.byType(
            moment,
            """
            WHEN 'number' THEN to_char(date '0001-01-01' + (*::bigint / \(day))::integer, 'YYYY-MM-DD')
            || 'T' || to_char(make_interval(secs => *::bigint % \(day) / \(second)), 'HH24:MI:SS')
            || '.' || lpad((*::bigint % \(second))::text, 7, '0') || 'Z'
            """)
        return .call("coalesce", date, text)
    }

    /// True, false, or null for what is no truth.
    func truth(_ expression: Expression) throws(Beyond) -> SQLFragment {
        switch expression {
        case .column(.user):
            guard let json = json(expression) else { return Self.noTruth }
            return Self.byType(json, "WHEN 'boolean' THEN *::boolean")
        case .column(.system(.deleted)): return SQLFragment("deleted")
        case .column: return Self.noTruth
        case .literal, .unary, .binary, .logical, .call, .inList:
            return try exact.condition(expression)
        }
    }

    /// A number, or null for what is none.
    func number(_ expression: Expression) throws(Beyond) -> SQLFragment {
        switch expression {
        case .literal(.number(let number)):
            return SQLFragment("?::numeric", [.text(PostgreSQLContent.number(of: number))])
        case .column(.user):
            guard let json = json(expression) else { return Self.noNumber }
            return Self.byType(json, "WHEN 'number' THEN *::numeric")
        case .column(.id) where types.schema.hasIntegerIDs:
            return SQLFragment("odata_number(id)")
        case .unary(.negate, let operand) where types.kind(of: operand) == .json,
            .unary(.negate, let operand) where types.kind(of: operand) == .number:
            let inner = try number(operand)
            return SQLFragment("(- \(inner.text))", inner.arguments)
        case .call(let function, let arguments):
            return try number(function, arguments)
        case .binary:
            throw Beyond()
        case .literal, .column, .unary, .logical, .inList:
            return Self.noNumber
        }
    }

    static let noNumber = SQLFragment("NULL::numeric")

    private func number(
        _ function: Expression.Function, _ arguments: [Expression]
    ) throws(Beyond) -> SQLFragment {
        switch function {
        case .length: return .call("odata_length", try text(arguments[0]))
        case .indexOf:
            return try .call("odata_indexof", text(arguments[0]), text(arguments[1]))
        case .year, .month, .day, .hour, .minute, .second:
            return .call("odata_\(function.rawValue)", try moment(arguments[0]))
        case .round, .floor, .ceiling:
            return .call(function.rawValue, try anyNumber(arguments[0]))
        case .count:
            guard let array = json(arguments[0]) else { return SQLFragment("0::numeric") }
            let count = Self.byType(array, "WHEN 'array' THEN jsonb_array_length(*) ELSE 0")
            return SQLFragment("(\(count.text))::numeric", count.arguments)
        case .startsWith, .endsWith, .contains, .toLower, .toUpper, .trim,
            .substring, .concat, .replace:
            return Self.noNumber
        }
    }

    /// The number of what may be none.
    private func anyNumber(_ expression: Expression) throws(Beyond) -> SQLFragment {
        switch types.kind(of: expression) {
        case .number, .json: return try number(expression)
        case .null, .boolean, .text, .guid, .instant, .time:
            return Self.noNumber
        }
    }

    /// A text, or null for what is none.
    func text(_ expression: Expression) throws(Beyond) -> SQLFragment {
        switch expression {
        case .literal(.string(let text)), .literal(.guid(let text)): return Self.bound(text)
        case .literal(.binary(let bytes)): return Self.bound(Base64.encoded(bytes))
        case .column(.id): return SQLFragment("id")
        case .column(.system(.version)): return SQLFragment("version")
        case .column(.user):
            guard let json = json(expression) else { return Self.noText }
            return Self.byType(json, "WHEN 'string' THEN * #>> '{}'").suffixed("COLLATE \"C\"")
        case .call(let function, let arguments): return try text(function, arguments)
        case .literal, .column, .unary, .binary, .logical, .inList:
            return Self.noText
        }
    }

    static let noText = SQLFragment("(NULL::text COLLATE \"C\")")

    private func text(
        _ function: Expression.Function, _ arguments: [Expression]
    ) throws(Beyond) -> SQLFragment {
        let made: SQLFragment
        switch function {
        case .toLower, .toUpper, .trim:
            made = .call("odata_\(function.rawValue)", try text(arguments[0]))
        case .concat:
            made = try .call(
                "odata_concat", text(arguments[0]), text(arguments[1]),
                SQLFragment("?::bigint", [.integer(Int64(TablesProtocol.Limits.computedTextBytes))])
            )
        case .substring, .replace:
            throw Beyond()
        case .startsWith, .endsWith, .contains, .length, .indexOf, .year, .month,
            .day, .hour, .minute, .second, .round, .floor, .ceiling,
            .count:
            return Self.noText
        }
        return made.suffixed("COLLATE \"C\"")
    }

    /// A text for comparisons in any case of the letters A to Z.
    func lowered(_ expression: Expression) throws(Beyond) -> SQLFragment {
        .call("lower", try text(expression))
    }

    /// An instant in ticks, or null for what is none.
    func instant(_ expression: Expression) throws(Beyond) -> SQLFragment {
        if let stamp = types.stamp(expression)?.text {
            if hasExactStamps, stamp == "stamp" { return SQLFragment("stamp_ticks") }
            return SQLFragment(
                "(\(stamp) * \(Instant.ticksPerMillisecond) + \(Instant.unixEpoch))")
        }
        if let instant = types.constantInstant(expression) { return Self.ticks(instant.ticks) }
        switch expression {
        case .column(.user):
            return Self.byType(try jsonMoment(expression), "WHEN 'number' THEN *::bigint")
        case .literal: return Self.noTicks
        case .column, .unary, .binary, .logical, .call, .inList:
            throw Beyond()
        }
    }

    /// A time of day in ticks, or null for what is none.
    func time(_ expression: Expression) throws(Beyond) -> SQLFragment {
        switch expression {
        case .literal(.time(let literal)): return Self.ticks(literal.ticks)
        case .literal(.string(let text)):
            return TimeLiteral(text).map { Self.ticks($0.ticks) } ?? Self.noTicks
        case .column(.user):
            return Self.byType(
                try jsonMoment(expression), "WHEN 'string' THEN (* #>> '{}')::bigint")
        case .literal, .column, .unary, .binary, .logical, .call, .inList:
            throw Beyond()
        }
    }

    /// What has a year or an hour, in ticks: a date, or a time of day.
    private func moment(_ expression: Expression) throws(Beyond) -> SQLFragment {
        switch types.kind(of: expression) {
        case .instant: return try instant(expression)
        case .time: return try time(expression)
        case .json:
            return Self.byType(
                try jsonMoment(expression),
                "WHEN 'number' THEN *::bigint WHEN 'string' THEN (* #>> '{}')::bigint")
        case .null, .boolean, .number, .guid: return Self.noTicks
        case .text:
            guard case .literal(.string(let text)) = expression else { throw Beyond() }
            return (Instant(parsing: text)?.ticks ?? TimeLiteral(text)?.ticks).map(Self.ticks)
                ?? Self.noTicks
        }
    }

    private static func ticks(_ ticks: Int64) -> SQLFragment {
        SQLFragment("?::bigint", [.integer(ticks)])
    }

    private static let noTicks = SQLFragment("NULL::bigint")
}
