import HTTPMessage
import HTTPTypes
import SyncCore
import TablesProtocol

/// A form in which a whole list is written.
enum ListFormat: String, Sendable {
    /// Comma-separated values, the names in the first line (``CSVText``).
    case csv
    /// The elements as a page has them, each as JSON in a line.
    case jsonl

    /// The form that a request asks for; nil for a page. What selects a part of the list cannot be given with it.
    init?(_ call: OperatorCall) throws(Problem) {
        guard let format = call.query["format"].flatMap(ListFormat.init) else { return nil }
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

    /// A list of the store, whose columns are the members of its answers.
    init<Element, Answer: Encodable>(
        _ list: WholeList<Element>, named name: String, as type: Answer.Type,
        _ answer: @escaping @Sendable (Element) -> Answer
    ) {
        self.init(named: name, columns: Self.members(of: "\(type)"), numbers: list.numbers) {
            numbers throws(StoreError) in
            try await list.read(numbers).map { JSONValue(answer: answer($0)) }
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

extension OperatorAPI {
    /// Answers with a whole list, which is read and written part by part, as fast as the client takes it.
    func export(
        _ call: OperatorCall, _ tenant: Tenant, _ format: ListFormat, _ list: ExportedList
    ) throws(Problem) -> Response {
        try saved(call, as: "\(list.name).\(format.rawValue)", format.contentType) {
            stream, isAuthorized in
            let isWhole = await Self.write(list, format, to: stream, while: isAuthorized)
            // Until here its store stays open.
            withExtendedLifetime(tenant) {}
            return isWhole
        }
    }

    /// Answers with what `write` writes, as a file to save. If it cannot be written to its end, or the caller
    /// signs out, the answer is torn.
    /// - Parameter bytes: how many bytes are written, if that is known.
    func saved(
        _ call: OperatorCall, as file: String, _ contentType: String, bytes: Int64? = nil,
        _ write: @escaping @Sendable (ByteStream, () -> Bool) async -> Bool
    ) throws(Problem) -> Response {
        guard let caller = access.caller(call.request) else {
            throw Self.signInRequired("Sign in first.")
        }
        let stream = ByteStream()
        var fields: HTTPFields = [
            .contentType: contentType, .cacheControl: "no-store",
            .xContentTypeOptions: "nosniff",
            .contentDisposition: "attachment; filename=\"\(file)\"",
        ]
        fields[.contentLength] = bytes.map { String($0) }
        let response = Response(
            head: HTTPResponse(status: .ok, headerFields: fields), stream: stream)
        if call.request.head.method == .head {
            stream.finish()
            return response
        }
        guard exports.takeNow() else {
            throw .unavailable("Too many files are being written: wait for the end of one.")
        }
        work.start { [access, exports] in
            let isWhole = await write(stream) { access.isAuthorized(caller) }
            if isWhole { stream.finish() } else { stream.fail() }
            exports.release()
        }
        return response
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
