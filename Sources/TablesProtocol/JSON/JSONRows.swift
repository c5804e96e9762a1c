/// The rows of a server's list, read in one pass over its body: an array, or an object with one.
///
/// A row that is no valid object (nested too deep, half a surrogate pair, a duplicate name) does not affect the
/// others: its bytes are cut out by brackets and quotes alone.
public struct JSONRows: Sendable {
    public struct Row: Sendable {
        public let bytes: ArraySlice<UInt8>
        /// The columns; nil if it is no valid object.
        public let columns: Columns?
    }

    /// The rows in order.
    public private(set) var rows: [Row] = []
    /// The name of the list in the object; nil if the body is the list itself.
    public private(set) var name: String?
    /// The values of the object's other members by their names. If a name appears twice, its last value counts.
    public private(set) var others: [String: ArraySlice<UInt8>] = [:]

    /// Reads a body; nil if it is neither an array nor an object with one.
    /// - Parameter names: the names that the list may have. The first one that the object has counts.
    public init?(_ bytes: [UInt8], named names: [String]) {
        var cursor = JSONCutter(bytes)
        if cursor.take("[") {
            guard let rows = Self.rows(&cursor) else { return nil }
            self.rows = rows
        } else {
            guard let lists = lists(&cursor, names),
                let name = names.first(where: { lists[$0] != nil })
            else { return nil }
            (self.name, rows) = (name, lists[name] ?? [])
        }
        guard cursor.isAtEnd else { return nil }
    }

    /// Reads the members of an object.
    /// - Returns: the lists of the given names; nil if the bytes are no object, or the first of the names is no list.
    private mutating func lists(_ cursor: inout JSONCutter, _ names: [String]) -> [String: [Row]]? {
        var lists: [String: [Row]] = [:]
        let isObject = cursor.readMembers { name, cursor in
            if names.contains(name), cursor.take("[") {
                guard let rows = Self.rows(&cursor) else { return false }
                (lists[name], others[name]) = (rows, nil)
                return true
            }
            guard let value = cursor.part() else { return false }
            (lists[name], others[name]) = (nil, value)
            return true
        }
        let first = names.first { lists[$0] != nil || others[$0] != nil }
        return isObject && first.flatMap { lists[$0] } != nil ? lists : nil
    }

    /// Reads the elements of an array behind its bracket.
    private static func rows(_ cursor: inout JSONCutter) -> [Row]? {
        var rows: [Row] = []
        if cursor.take("]") { return rows }
        repeat {
            guard let row = cursor.row() else { return nil }
            rows.append(row)
        } while cursor.take(",")
        return cursor.take("]") ? rows : nil
    }
}

/// Cuts JSON text into parts by brackets and quotes alone, so that an invalid part does not affect the others.
public struct JSONCutter {
    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// The members of an object in order; a name may appear twice. A member whose name cannot be read is
    /// left out: it does not hide the others. Each value is validated when it is parsed.
    /// - Returns: nil if the bytes are not exactly one object, or if a member has no name.
    public static func members(
        ofObject bytes: ArraySlice<UInt8>
    ) -> [(name: String, value: ArraySlice<UInt8>)]? {
        var cutter = JSONCutter(Array(bytes))
        var members: [(name: String, value: ArraySlice<UInt8>)] = []
        let isObject = cutter.readMembers { name, cutter in
            guard let value = cutter.part() else { return false }
            members.append((name, value))
            return true
        }
        return isObject && cutter.isAtEnd ? members : nil
    }

    /// Reads an object, with a function that reads the value of each member that has a readable name.
    /// - Returns: false if it is none, or the function returned false.
    fileprivate mutating func readMembers(
        _ read: (_ name: String, inout JSONCutter) -> Bool
    ) -> Bool {
        guard take("{") else { return false }
        if take("}") { return true }
        repeat {
            guard let part = string(), take(":") else { return false }
            if let name = (try? JSONText(validating: Array(part)))?.string {
                guard read(name, &self) else { return false }
            } else if self.part() == nil {
                return false
            }
        } while take(",")
        return take("}")
    }

    /// Skips white space and this character; false if another one follows.
    fileprivate mutating func take(_ character: Unicode.Scalar) -> Bool {
        skipSpace()
        guard position < bytes.count, bytes[position] == UInt8(ascii: character) else {
            return false
        }
        position += 1
        return true
    }

    /// Whether only white space is left.
    fileprivate var isAtEnd: Bool {
        mutating get {
            skipSpace()
            return position == bytes.count
        }
    }

    /// Reads the next element of an array; nil if there is none.
    fileprivate mutating func row() -> JSONRows.Row? {
        skipSpace()
        var scanner = JSONScanner(at: position)
        if let columns = try? scanner.columns(bytes.span) {
            let row = bytes[position..<scanner.position]
            scanner.skipSpace(bytes.span)
            // Anything else is more of an element that is no object.
            if row.count <= Limits.jsonBytes, scanner.position < bytes.count,
                [UInt8(ascii: ","), UInt8(ascii: "]")].contains(bytes[scanner.position])
            {
                position = scanner.position
                return JSONRows.Row(bytes: row, columns: Columns(unique: columns))
            }
        }
        let part = part() ?? []
        return part.isEmpty ? nil : JSONRows.Row(bytes: part, columns: nil)
    }

    /// Cuts the next part: up to a comma or a closing bracket outside strings and inner brackets.
    /// - Returns: nil if a string or a bracket in it does not end.
    fileprivate mutating func part() -> ArraySlice<UInt8>? {
        skipSpace()
        let start = position
        var end = start
        var depth = 0
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "\""):
                guard string() != nil else { return nil }
                end = position
                continue
            case UInt8(ascii: "["), UInt8(ascii: "{"): depth += 1
            case UInt8(ascii: "]"), UInt8(ascii: "}"):
                if depth == 0 { return bytes[start..<end] }
                depth -= 1
            case UInt8(ascii: ",") where depth == 0: return bytes[start..<end]
            default: break
            }
            if !Self.isSpace(bytes[position]) { end = position + 1 }
            position += 1
        }
        return nil
    }

    /// Skips white space and a string, and returns it with its quotes; nil if there is none or it does not end.
    private mutating func string() -> ArraySlice<UInt8>? {
        skipSpace()
        let start = position
        guard take("\"") else { return nil }
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "\""):
                position += 1
                return bytes[start..<position]
            case UInt8(ascii: "\\"): position += 2
            default: position += 1
            }
        }
        return nil
    }

    private mutating func skipSpace() {
        while position < bytes.count, Self.isSpace(bytes[position]) { position += 1 }
    }

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D
    }
}
