import HTTPMessage
import HTTPTypes
import TablesProtocol

// Answers to writes of a sender who may not read the table: the status that a reader gets, without the row.
//
// A write that took effect is answered with the id, the columns that were sent, and the version, which the
// sender's next write names. Any other is answered with a sentence alone.
extension Answerer {
    /// The answer to a sender who may not read the table; nil for readers, and where the usual answer shows no
    /// row.
    func unreadable(_ outcome: Outcome) -> Response? {
        guard !mayRead else { return nil }
        switch outcome {
        case .inserted(let row, let sent, _):
            var response = receipt(201, row, sent)
            if !profile.isNode { response.head.headerFields[.location] = location(row) }
            return response
        case .changed(let row, let sent, _): return receipt(200, row, sent)
        case .deleted(let row): return profile.deleteAnswersRow ? receipt(200, row) : empty(204)
        case .deletedAll(let rows):
            return json(200, RowWriter.list(rows.map { rowWriter.receipt($0, sent: []) }))
        case .undeleted(let row):
            guard case .post(let status) = profile.undelete else { return receipt(200, row) }
            return receipt(status, row)
        case .exists: return refused(Refusal(409, "An item with this id exists."))
        case .preconditionFailed: return refused(Refusal(412, Self.conflictSentence))
        case .versionConflict: return refused(Refusal(409, Self.conflictSentence))
        case .list, .found, .notModified, .unchanged, .missing, .gone, .refused, .overtaken:
            return nil
        }
    }

    private static let conflictSentence =
        "The item is not as the request says. You may not read it."

    /// Whether the sender may see what the table holds.
    private var mayRead: Bool {
        guard options.tokens == .verified, let name = call.tableName else { return true }
        return options.permission(.read, call, on: name) == .given
    }

    private func receipt(_ status: Int, _ row: Row, _ sent: Columns = Columns()) -> Response {
        var writer = rowWriter
        writer.asked.formUnion(conditional(status))
        let names = Set(sent.names.map { $0.lowercased() })
        var response = json(status, writer.receipt(row, sent: names))
        addValidators(&response, row, writer)
        return response
    }
}
