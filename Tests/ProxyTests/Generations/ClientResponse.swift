import HTTPMessage
import HTTPTypes
import TablesProtocol

/// An answer as a client reads it.
struct ClientResponse: Sendable {
    let response: Response

    var status: Int { response.head.status.code }
    var text: String { String(decoding: response.bytes ?? [], as: UTF8.self) }
    var json: JSONValue { (try? JSONValue(parsing: text)) ?? .null }
    var etag: String? { field("ETag") }

    func field(_ name: String) -> String? {
        HTTPField.Name(name).flatMap { response.head.headerFields[$0] }
    }

    /// The item that is the body, column by column as raw text; nil when it is none.
    var item: [String: String]? { Self.columns(text) }

    /// The items of a list in any envelope.
    var items: [[String: String]] {
        let envelope = Self.columns(text)
        let list = envelope?["results"] ?? envelope?["items"] ?? text
        let elements = JSONRows(Array(list.utf8), named: [])?.rows ?? []
        return elements.compactMap { Self.columns(String(decoding: $0.bytes, as: UTF8.self)) }
    }

    var ids: [String] { items.compactMap { $0["id"] } }

    private static func columns(_ text: String) -> [String: String]? {
        guard let columns = try? Columns(parsing: text) else { return nil }
        return Dictionary(columns.all.map { ($0.name, $0.value.text) }) { $1 }
    }
}

extension [String: String] {
    /// The user's columns that are not null.
    var own: [String: String] {
        let system: Set = ["id", "createdat", "updatedat", "version", "deleted"]
        return filter { name, value in
            let bare = name.lowercased().hasPrefix("__") ? name.dropFirst(2) : name[...]
            return value != "null" && !system.contains(bare.lowercased())
        }
    }

    /// The text of a column that is a string.
    func string(_ name: String) -> String? {
        self[name].flatMap { try? JSONValue(parsing: $0).string }
    }
}
