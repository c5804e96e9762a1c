import HTTPMessage

/// An event of the stream of changes: `GET /tables/changes` with `Accept: text/event-stream`
/// (docs/PROTOCOL.md).
public enum ChangeEvent: Sendable, Hashable {
    /// Rows of a table have changed. The stamp is the table's latest `updatedAt`; nil where it is not told.
    case change(TableName, updatedAt: Instant?)
    /// Any table may have changed.
    case reset
    /// Over how many milliseconds followers spread what they do after a change, and their return after the end of
    /// the stream.
    case spread(milliseconds: Int)

    /// The lines of the event, as server-sent events write it.
    public var text: String {
        switch self {
        case .change(let table, let updatedAt):
            var members = [JSONValue.Member("table", .string(table.text))]
            if let updatedAt { members.append(.init("updatedAt", .string(updatedAt.text))) }
            return "event: change\ndata: \(JSONValue.object(members).text)\n\n"
        case .reset: return "event: reset\ndata: {}\n\n"
        case .spread(let milliseconds): return "retry: \(milliseconds)\n\n"
        }
    }

    /// A comment line, which keeps the connection open.
    public static let heartbeat = ": \n\n"
}

/// The request for the stream, and its bytes.
public enum ChangeStream {
    /// The name of the table whose list the request would be without its `Accept`.
    public static let name = "changes"
    public static let mediaType = "text/event-stream"

    /// Whether a read of a table asks for the stream: by its name, and by an `Accept` that names the media type.
    /// A list of a table of this name has another `Accept`, or none.
    public static func isAsked(for table: TableName, accept: String?) -> Bool {
        guard table.key == name, let accept else { return false }
        return accept.split(separator: ",").contains { MediaType(String($0)).name == mediaType }
    }
}

/// Reads events from the bytes of a stream, in pieces of any size.
public struct ChangeStreamReader: Sendable {
    /// The bytes of a line whose end has not come.
    private var line: [UInt8] = []
    private var event = ""
    private var data = ""
    /// Whether the next line feed belongs to the line before.
    private var isAfterReturn = false

    /// The longest line, in bytes. The name of a table has at most 128 characters.
    static let lineBytes = 4096

    /// A line of the stream is longer than any event has.
    public struct TooLong: Error {}

    /// Makes a reader for a new stream.
    public init() {}

    /// Takes a piece.
    /// - Returns: the events that are whole with it. Unknown ones are left out.
    public mutating func take(_ bytes: [UInt8]) throws(TooLong) -> [ChangeEvent] {
        var events: [ChangeEvent] = []
        for byte in bytes {
            let isLineFeed = byte == UInt8(ascii: "\n")
            defer { isAfterReturn = byte == UInt8(ascii: "\r") }
            if isLineFeed, isAfterReturn { continue }
            guard isLineFeed || byte == UInt8(ascii: "\r") else {
                guard line.count < Self.lineBytes else { throw TooLong() }
                line.append(byte)
                continue
            }
            if let event = takeLine() { events.append(event) }
            line.removeAll(keepingCapacity: true)
        }
        return events
    }

    /// Takes a line whose end has come.
    private mutating func takeLine() -> ChangeEvent? {
        if line.isEmpty {
            defer { (event, data) = ("", "") }
            return whole
        }
        let text = String(decoding: line, as: UTF8.self)
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        var value = parts.count > 1 ? parts[1] : ""
        if value.first == " " { value = value.dropFirst() }
        switch parts[0] {
        case "event": event = String(value)
        case "data": data = String(value)
        case "retry":
            if let milliseconds = Int(value), milliseconds >= 0 {
                return .spread(milliseconds: milliseconds)
            }
        default: break
        }
        return nil
    }

    private var whole: ChangeEvent? {
        switch event {
        case "change":
            guard let value = try? JSONValue(parsing: Array(data.utf8)),
                let table = value["table"]?.string.flatMap({ TableName($0) })
            else { return nil }
            return .change(
                table, updatedAt: value["updatedAt"]?.string.flatMap { Instant(iso: $0) })
        case "reset": return .reset
        default: return nil
        }
    }
}
