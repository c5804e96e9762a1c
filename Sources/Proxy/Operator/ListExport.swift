import HTTPMessage
import HTTPTypes
import SyncCore
import TablesProtocol

/// A form in which a whole list is written.
package enum ListFormat: String, Codable, Sendable, CaseIterable {
    /// Comma-separated values, the names in the first line (``CSVText``).
    case csv
    /// The elements as a page has them, each as JSON in a line.
    case jsonl

    /// The form that a request asks for; nil for a page. What selects a part of the list cannot be given with it.
    init?(of call: OperatorCall) throws(Problem) {
        guard let format = call.query[Fields.format] else { return nil }
        for name in ["after", "limit", "skip", "top"] where call.query[name] != nil {
            throw .invalid(
                "\(name) is for pages, and format is for the whole list: leave one of them out.",
                parameter: name)
        }
        self = format
    }

    fileprivate var contentType: String {
        switch self {
        case .csv: "text/csv; charset=utf-8; header=present"
        case .jsonl: "application/jsonl"
        }
    }

    fileprivate func head(_ columns: [String]) -> [UInt8] {
        switch self {
        case .csv: CSVText.line(columns.map { .string($0) })
        case .jsonl: []
        }
    }

    fileprivate func line(_ row: JSONValue, _ columns: [String]) -> [UInt8] {
        switch self {
        case .csv: CSVText.line(of: row, columns)
        case .jsonl: Array((row.text + "\n").utf8)
        }
    }
}

struct ExportedList: Sendable {
    /// What the file is called that a browser makes of it, without its ending.
    let name: String
    /// The names of the columns of a CSV.
    let columns: [String]
    /// The numbers of its elements, in their order.
    let numbers: [Int64]
    /// Reads the elements with some of the numbers.
    let read: @Sendable ([Int64]) async throws(StoreError) -> [JSONValue]

    init(
        named name: String, columns: [String], numbers: [Int64],
        read: @escaping @Sendable ([Int64]) async throws(StoreError) -> [JSONValue]
    ) {
        (self.name, self.columns, self.numbers, self.read) = (name, columns, numbers, read)
    }

    /// A list of the store, whose columns are the members of its elements.
    init<Element: Encodable>(_ list: WholeList<Element>, named name: String) {
        self.init(named: name, columns: Self.members(of: "\(Element.self)"), numbers: list.numbers)
        {
            numbers throws(StoreError) in
            try await list.read(numbers).map { JSONValue(answer: $0) }
        }
    }

    /// The names of the members of an answer, which an empty list does not show, in their order.
    private static func members(of answer: String) -> [String] {
        guard case .object(let members) = schemas?[answer]?["properties"] else { return [] }
        return members.map(\.name)
    }

    private static let schemas = (try? JSONValue(parsing: PackageResources.openapi_json))?[
        "components"]?["schemas"]
}

/// Answers with whole lists.
struct ListExport: Sendable {
    let access: OperatorAccess
    let work: BackgroundWork
    /// The whole lists that are being written.
    let permits = Permits(Limits.exportsAtOnce)

    /// Answers with a whole list as a file to save, which is read and written part by part, as fast as the
    /// client takes it. If it cannot be written to its end, or the caller signs out, the answer is torn.
    func answer<Answer>(
        _ call: OperatorCall, _ tenant: Tenant, _ format: ListFormat, _ list: ExportedList
    ) throws(Problem) -> Answered<Answer> {
        let caller = try access.known(call)
        let stream = ByteStream()
        let fields: HTTPFields = [
            .contentType: format.contentType, .cacheControl: "no-store",
            .xContentTypeOptions: "nosniff",
            .contentDisposition: "attachment; filename=\"\(list.name).\(format.rawValue)\"",
        ]
        let response = Response(
            head: HTTPResponse(status: .ok, headerFields: fields), stream: stream)
        if call.request.head.method == .head {
            stream.finish()
            return Answered(response)
        }
        guard permits.takeNow() else {
            throw .unavailable("Too many files are being written: wait for the end of one.")
        }
        work.start { [access, permits] in
            let isWhole = await Self.write(list, format, to: stream) { access.isAuthorized(caller) }
            // Until here its store stays open.
            withExtendedLifetime(tenant) {}
            if isWhole { stream.finish() } else { stream.fail() }
            permits.release()
        }
        return Answered(response)
    }

    /// Writes a list.
    /// - Returns: false where it is not whole.
    private static func write(
        _ list: ExportedList, _ format: ListFormat, to stream: ByteStream,
        while isAuthorized: () -> Bool
    ) async -> Bool {
        guard await stream.writeInPieces(format.head(list.columns)) else { return false }
        var rest = list.numbers[...]
        while !rest.isEmpty {
            guard isAuthorized(), !Task.isCancelled,
                let rows = try? await list.read(Array(rest.prefix(Limits.exportedElements)))
            else { return false }
            rest = rest.dropFirst(Limits.exportedElements)
            let bytes = rows.flatMap { format.line($0, list.columns) }
            guard await stream.writeInPieces(bytes) else { return false }
        }
        return true
    }
}

extension ByteStream {
    /// Writes bytes as fast as the reader takes them.
    /// - Returns: false where the reader has left, or the task is cancelled.
    func writeInPieces(_ bytes: [UInt8]) async -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let piece = Array(rest.prefix(Limits.exportedPieceBytes))
            while !write(piece) {
                if isCancelled || Task.isCancelled { return false }
                let (writable, isWritable) = AsyncStream.makeStream(of: Void.self)
                onWritable { isWritable.yield() }
                var wakes = writable.makeAsyncIterator()
                await wakes.next()
            }
            rest = rest.dropFirst(piece.count)
        }
        return true
    }
}

/// A list as comma-separated values (RFC 4180) that a spreadsheet takes for what they are.
///
/// 1. A text that a spreadsheet would run begins with an apostrophe here, which it hides. Some drop blanks before a
///    sign, and take full-width signs for plain ones. Numbers stay.
/// 2. A text with a separator of another country's spreadsheets, a tab or a semicolon, is quoted too: its
///    second half would else be a cell of its own, which could be run.
/// 3. Objects and lists are their JSON. No value, and no such member, is an empty cell.
enum CSVText {
    static func line(_ cells: [JSONValue?]) -> [UInt8] {
        var bytes: [UInt8] = []
        for (index, cell) in cells.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            append(cell ?? .null, to: &bytes)
        }
        bytes += [carriageReturn, lineFeed]
        return bytes
    }

    /// The line of a row.
    /// - Parameter columns: the names of its members that are written, most of them in their order.
    static func line(of row: JSONValue, _ columns: [String]) -> [UInt8] {
        guard case .object(let members) = row else { return line([row]) }
        return line(
            columns.enumerated().map { index, name in
                if index < members.count, members[index].name.utf8.elementsEqual(name.utf8) {
                    return members[index].value
                }
                return row[name]
            })
    }

    private static func append(_ value: JSONValue, to bytes: inout [UInt8]) {
        switch value {
        case .null: break
        case .bool, .number: bytes += value.text.utf8
        case .array, .object: append(text: value.text, to: &bytes)
        case .string(let text): append(text: isRun(text) ? "'" + text : text, to: &bytes)
        }
    }

    /// Whether a spreadsheet would take a text for a formula.
    private static func isRun(_ text: String) -> Bool {
        if text.utf8.first.map(controls.contains) ?? false { return true }
        let first = text.unicodeScalars.first { scalar in
            !scalar.properties.isWhitespace && scalar.properties.generalCategory != .format
        }
        return first.map { "=+-@＝＋－＠".unicodeScalars.contains($0) } ?? false
    }

    private static func append(text: String, to bytes: inout [UInt8]) {
        let isPlain = !text.utf8.contains(where: quoted.contains)
        guard !isPlain || text.utf8.first == space || text.utf8.last == space else {
            bytes += text.utf8
            return
        }
        bytes.append(quote)
        for byte in text.utf8 {
            if byte == quote { bytes.append(quote) }
            bytes.append(byte)
        }
        bytes.append(quote)
    }

    private static let quote = UInt8(ascii: "\"")
    private static let space = UInt8(ascii: " ")
    private static let tab = UInt8(ascii: "\t")
    private static let lineFeed = UInt8(ascii: "\n")
    private static let carriageReturn = UInt8(ascii: "\r")
    private static let controls = [tab, carriageReturn, lineFeed]
    private static let quoted: [UInt8] = Array(",;".utf8) + [quote, tab, carriageReturn, lineFeed]
}
