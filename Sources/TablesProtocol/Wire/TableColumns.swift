/// The columns that every row of a table has at its backend. There a row that was written before a column
/// came shows null in it.
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
        if names.isEmpty { return }
        var text = Array("{".utf8)
        text += bytes[start...].dropFirst()
        text.append(UInt8(ascii: "}"))
        let present = Set(Columns(stored: String(decoding: text, as: UTF8.self)).names)
        for (name, null) in zip(names, nulls) where !present.contains(name) { bytes += null }
    }
}
