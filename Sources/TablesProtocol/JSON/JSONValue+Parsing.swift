extension JSONValue {
    /// Parses one JSON value.
    /// - Throws: ``JSONError`` with the byte position, also for a name that appears twice in one
    ///   object and for half a surrogate pair.
    public init(parsing text: String) throws(JSONError) {
        self = try JSONValue(parsing: Array(text.utf8))
    }

    /// Parses the bytes of one JSON value.
    /// - Throws: ``JSONError`` as ``init(parsing:)-(String)`` does, and when they are not UTF-8.
    public init(parsing bytes: [UInt8]) throws(JSONError) {
        self = try JSONValue(parsing: bytes, names: .areUnique)
    }

    /// Whether a name may appear more than once in an object.
    enum Names { case areUnique, mayRepeat }

    init(parsing bytes: [UInt8], names: Names) throws(JSONError) {
        var parser = Parser(names: names)
        try parser.scanner.start(bytes.span)
        self = try parser.value(bytes)
        try parser.scanner.expectEnd(bytes.span)
    }

    private struct Parser {
        let names: Names
        var scanner = JSONScanner()

        mutating func value(_ bytes: [UInt8]) throws(JSONError) -> JSONValue {
            scanner.skipSpace(bytes.span)
            switch try scanner.peek(bytes.span) {
            case UInt8(ascii: "{"): return try object(bytes)
            case UInt8(ascii: "["): return try array(bytes)
            case UInt8(ascii: "\""): return .string(try scanner.string(bytes.span))
            case UInt8(ascii: "t"): return try passed(.bool(true), bytes)
            case UInt8(ascii: "f"): return try passed(.bool(false), bytes)
            case UInt8(ascii: "n"): return try passed(.null, bytes)
            default: return try number(bytes)
            }
        }

        private mutating func passed(
            _ value: JSONValue, _ bytes: [UInt8]
        ) throws(JSONError) -> JSONValue {
            try scanner.skipValue(bytes.span)
            return value
        }

        private mutating func number(_ bytes: [UInt8]) throws(JSONError) -> JSONValue {
            let start = scanner.position
            try scanner.skipNumber(bytes.span)
            let text = try JSONScanner.text(bytes.span, start..<scanner.position)
            return .number(JSONNumber(trusted: text))
        }

        private mutating func array(_ bytes: [UInt8]) throws(JSONError) -> JSONValue {
            var values: [JSONValue] = []
            try scanner.enter()
            scanner.position += 1
            if try !scanner.take(UInt8(ascii: "]"), bytes.span) {
                repeat { values.append(try value(bytes)) } while try scanner.take(0x2C, bytes.span)
                try scanner.expect(UInt8(ascii: "]"), bytes.span)
            }
            scanner.leave()
            return .array(values)
        }

        private mutating func object(_ bytes: [UInt8]) throws(JSONError) -> JSONValue {
            var members: [Member] = []
            var places = NameTable()
            try scanner.enter()
            scanner.position += 1
            if try !scanner.take(UInt8(ascii: "}"), bytes.span) {
                repeat {
                    scanner.skipSpace(bytes.span)
                    let position = scanner.position
                    let name = try scanner.string(bytes.span)
                    if names == .areUnique, places.insert(name) != nil {
                        throw JSONError(.duplicateName(name), at: position)
                    }
                    try scanner.expect(UInt8(ascii: ":"), bytes.span)
                    members.append(Member(name, try value(bytes)))
                } while try scanner.take(UInt8(ascii: ","), bytes.span)
                try scanner.expect(UInt8(ascii: "}"), bytes.span)
            }
            scanner.leave()
            return .object(members)
        }
    }
}
