import HTTPTypes
import TablesProtocol

/// Lists as the operations table keeps them: JSON arrays of strings and of query pairs.
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

    /// Lists of texts in a list.
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
        // Written by this type; were the store damaged, the list reads as empty.
        text == "[]" ? [] : (try? JSONValue(parsing: text))?.array ?? []
    }
}

extension HTTPFields {
    /// Reads what ``stored`` gave. Were the store damaged, there are no fields.
    init(stored text: String) {
        self.init()
        for pair in JSONList.lists(text) where pair.count == 2 {
            guard let name = HTTPField.Name(pair[0]) else { continue }
            append(HTTPField(name: name, value: pair[1]))
        }
    }

    /// The fields as an operation keeps them: a JSON list of lists of name and value.
    var stored: String {
        isEmpty ? "[]" : JSONList.text(map { [$0.name.rawName, $0.value] })
    }

    /// Takes the fields of a later write that becomes part of the same operation: its values replace
    /// those of the same names, and the others stay.
    mutating func take(_ later: HTTPFields) {
        for name in Set(later.map(\.name)) { self[fields: name] = later[fields: name] }
    }
}
