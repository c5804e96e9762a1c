import HTTPTypes
import TablesProtocol

/// The lists in the operations table as JSON arrays.
enum JSONList {
    static func text(_ names: [String]) -> String {
        if names.isEmpty { return "[]" }
        var bytes: [UInt8] = []
        for name in names {
            bytes.append(bytes.isEmpty ? UInt8(ascii: "[") : UInt8(ascii: ","))
            bytes.appendJSONString(name)
        }
        bytes.append(UInt8(ascii: "]"))
        return String(decoding: bytes, as: UTF8.self)
    }

    static func names(_ text: String) -> [String] {
        elements(text).compactMap(\.string)
    }

    /// An array of arrays of strings.
    static func lists(_ text: String) -> [[String]] {
        elements(text).map { ($0.array ?? []).compactMap(\.string) }
    }

    static func text(_ lists: [[String]]) -> String {
        "[" + lists.map { text($0) }.joined(separator: ",") + "]"
    }

    static func text(_ parameters: [QueryParameter]) -> String {
        if parameters.isEmpty { return "[]" }
        let pairs = parameters.map { text([$0.name, $0.value, $0.raw]) }
        return "[" + pairs.joined(separator: ",") + "]"
    }

    static func parameters(_ text: String) -> [QueryParameter] {
        elements(text).compactMap { element in
            let parts = (element.array ?? []).compactMap(\.string)
            guard parts.count == 3 else { return nil }
            return QueryParameter(name: parts[0], value: parts[1], raw: parts[2])
        }
    }

    private static func elements(_ text: String) -> [JSONValue] {
        // The text was written by this type. If the store is damaged, the list is empty.
        text == "[]" ? [] : (try? JSONValue(parsing: text))?.array ?? []
    }
}

extension HTTPFields {
    /// Reads the text of ``stored``. If the store is damaged, there are no fields.
    init(stored text: String) {
        self.init()
        for pair in JSONList.lists(text) where pair.count == 2 {
            guard let name = HTTPField.Name(pair[0]) else { continue }
            append(HTTPField(name: name, value: pair[1]))
        }
    }

    /// The fields as stored with an operation: a JSON array of [name, value] arrays.
    var stored: String {
        isEmpty ? "[]" : JSONList.text(map { [$0.name.rawName, $0.value] })
    }

    /// Takes the fields of a later write to the same operation. Fields of the same names are replaced, the
    /// others stay.
    mutating func override(with later: HTTPFields) {
        for name in Set(later.map(\.name)) { self[fields: name] = later[fields: name] }
    }
}
