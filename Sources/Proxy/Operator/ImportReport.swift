import SyncCore
import TablesProtocol

/// What became of what an import brought.
struct ImportReport {
    /// The list of the request in which something was.
    enum List: String { case changes, history }

    private var written = 0
    private var present = 0
    private var missing = 0
    private var historyAdded = 0
    private var historyPresent = 0
    private var problems: [JSONValue] = []

    /// Counts a change.
    /// - Parameter outcome: nil when it was made before.
    mutating func note(_ outcome: WriteOutcome?, _ index: Int) {
        switch outcome {
        case nil: present += 1
        case .inserted, .updated, .deleted, .undeleted: written += 1
        case .alreadyExists: present += 1
        case .missing, .gone: missing += 1
        case .preconditionFailed:
            refuse(.changes, index, "Its version is another one.")
        case .unknownWhilePartial:
            refuse(
                .changes, index, "Its table was not pulled yet; sync first, then import again.")
        case .tableNotAllowed: refuse(.changes, index, Self.notAllowed)
        case .invalid(let sentence), .failed(let sentence): refuse(.changes, index, sentence)
        case .storageFull: refuse(.changes, index, "The disk is full.")
        case .readOnly: refuse(.changes, index, "The store cannot be written.")
        case .busy: refuse(.changes, index, "Too many writes wait; try again.")
        }
    }

    /// Counts an entry of history.
    mutating func note(_ outcome: ImportedOutcome, _ index: Int) {
        switch outcome {
        case .added: historyAdded += 1
        case .present: historyPresent += 1
        case .tableNotAllowed: refuse(.history, index, Self.notAllowed)
        }
    }

    /// Counts what cannot be taken over, with the reason.
    mutating func refuse(_ list: List, _ index: Int, _ detail: String) {
        problems.append(
            .members(
                ("list", .string(list.rawValue)), ("index", .number(index)),
                ("detail", .string(detail))))
    }

    private static let notAllowed = "Its table is not one of those that are allowed."

    /// As the operator API answers it.
    var json: JSONValue {
        .members(
            ("written", .number(written)), ("present", .number(present)),
            ("missing", .number(missing)), ("historyAdded", .number(historyAdded)),
            ("historyPresent", .number(historyPresent)), ("refused", .number(problems.count)),
            ("problems", .array(problems)))
    }
}
