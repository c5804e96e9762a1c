/// The columns that a table has: what each of its rows has in the databases behind the servers of the
/// first and second generation. There a row that was written before a column came shows null in it.
public struct TableColumns: Sendable, Hashable {
    private let names: [String]
    /// `,"name":null` for each.
    private let nulls: [[UInt8]]

    /// Takes the names as the table's rows spell them, each once.
    public init(_ names: [String]) {
        self.names = names
        nulls = names.map { name in
            var bytes = Array(",".utf8)
            bytes.appendJSONString(name)
            bytes += ":null".utf8
            return bytes
        }
    }

    /// Appends null for each column that is not among the members from `start` on, each of which is
    /// `,"name":value`.
    func appendAbsent(after start: Int, to bytes: inout [UInt8]) {
        // Mostly a row has them all, and to count its members is all that is done.
        guard Self.memberCount(bytes, from: start) < names.count else { return }
        var text = Array("{".utf8)
        text += bytes[start...].dropFirst()
        text.append(UInt8(ascii: "}"))
        let present = Set(Columns(stored: String(decoding: text, as: UTF8.self)).names)
        for (name, null) in zip(names, nulls) where !present.contains(name) { bytes += null }
    }

    /// How many members begin in the text, by the commas before them: those outside of strings, objects
    /// and arrays.
    private static func memberCount(_ bytes: [UInt8], from start: Int) -> Int {
        var (count, depth, isString, index) = (0, 0, false, start)
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "\\") where isString: index += 1
            case UInt8(ascii: "\""): isString.toggle()
            case _ where isString: break
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
            case UInt8(ascii: ",") where depth == 0: count += 1
            default: break
            }
            index += 1
        }
        return count
    }
}
