import Proxy
import TablesProtocol

@testable import SyncCore

/// An answer from the members that a test is about. Those that are not named have the values of an Understudy
/// with nothing in its store.
func some<Answer: Decodable>(_ type: Answer.Type, _ members: String) throws -> Answer {
    try Answer(
        answer: (Usual.members["\(type)"] ?? .object([])).with(
            try JSONValue(parsing: members), in: "\(type)"))
}

/// A page with these elements.
func some<Element: Answers.Part>(pageOf type: Element.Type, _ elements: String...) throws
    -> Page<Element>
{
    Page(try elements.map { try some(type, $0) })
}

private enum Usual {
    private static let noon = Instant(milliseconds: 1_795_262_400_000)

    /// The members by type.
    static let members = texts.compactMapValues { try? JSONValue(parsing: $0) }.merging([
        "Run": JSONValue(
            answer: Run(
                id: "r", identity: "anonymous", kind: .sync, state: .complete, startedAt: noon)),
        "OperationSummary": JSONValue(
            answer: OperationSummary(
                id: "op", identity: "anonymous", seq: 1, table: "t", itemID: "a", kind: .insert,
                state: .queued, revision: 1, attempts: 0, maybeApplied: false, createdAt: noon,
                changedColumns: [])),
    ]) { _, value in value }

    private static let texts = [
        "Status": #"""
        {"identity":"anonymous","version":"1","startedAt":"2026-11-21T12:00:00.000Z","addresses":null,
        "backend":{"url":"http://b","state":"online","reason":"","since":"2026-11-21T12:00:00.000Z","nextTry":null,"isAsked":true,
        "failedRequest":null,"changesFollowedSince":null},"mode":{"mode":"online","until":null},
        "queue":{"queued":0,"waiting":0,"sending":0,"unknown":0,"conflict":0,"quarantined":0},
        "ledger":{"accepted":0,"applied":0,"collapsed":0,"discarded":0,"queued":0,"waiting":0,"sending":0,
        "unknown":0,"conflict":0,"quarantined":0,"balances":true},"tables":[],"wantedTables":[],
        "lastSync":null,"nextSync":null,"currentRun":null,"warnings":[],"rejectedRequests":0,
        "identities":["anonymous"],"unsigned":null}
        """#,
        "TableStatus": #"""
        {"identity":"anonymous","name":"t","items":0,"pending":0,"isComplete":true,"part":null,
        "lastPull":null,"readPolicy":"local","writePolicy":"local","conflictPolicy":"ask",
        "unconditionalPolicy":"ask","isPublic":false,"parents":[],"preserveHistory":false,"pause":"nothing",
        "idKind":"string","paging":"full","warning":null,"pullError":null,"pullsFailSince":null,
        "pushWait":null,"pullWait":null,"setAside":0,"drift":null,"indexes":[]}
        """#,
        "Settings": #"""
        {"triggers":["manual"],"intervalSeconds":60,"debounceMs":0,"parallelism":1,"maxAttempts":10,
        "pageRows":50,"tables":[]}
        """#,
        "KnownIdentity": #"""
        {"identity":"anonymous","state":"open","openOperations":0,"conflicts":0,"quarantined":0,
        "oldestAt":null,"items":0,"bytes":0}
        """#,
    ]
}

extension JSONValue {
    /// The object with the members of another, in objects inside too. Elements of a list of tables get the
    /// usual members of a table.
    fileprivate func with(_ other: JSONValue, in name: String) -> JSONValue {
        guard case .object(var members) = self, case .object(let more) = other else { return other }
        for member in more {
            let value: JSONValue
            if member.name == "tables", name == "Status", let table = Usual.members["TableStatus"] {
                let tables = member.value.array ?? []
                value = .array(tables.map { table.with($0, in: "TableStatus") })
            } else {
                value =
                    self[member.name].map { $0.with(member.value, in: member.name) }
                    ?? member.value
            }
            members.removeAll { $0.name == member.name }
            members.append(.init(member.name, value))
        }
        return .object(members)
    }
}
