import Backend
import Platform
import Proxy
import TablesProtocol
import Testing

@testable import Program
@testable import understudy

/// The values of `--table` of a backend.
@Suite struct BackendTableTests {
    static let tables: [(String, BackendFlavour, TableOptions)] = [
        ("movies", .express, TableOptions(softDelete: false)),
        ("movies", .node, TableOptions()),
        ("movies:soft", .express, TableOptions()),
        ("movies:hard", .node, TableOptions(softDelete: false)),
        ("n:integer", .express, TableOptions(softDelete: false, idKind: .integer)),
        (
            "n:integer+reused-ids+hard", .node,
            TableOptions(softDelete: false, idKind: .integer, reusesIDs: true)
        ),
        (
            "orders:unique=number+references=client.clients+no-versions", .node,
            TableOptions(
                hasVersions: false, uniqueColumns: ["number"],
                references: TableName("clients").map { ["client": $0] } ?? [:])
        ),
        (
            "s:authenticated+no-delete+no-read", .express,
            TableOptions(softDelete: false, needsSignIn: true, disabled: [.delete, .read])
        ),
    ]

    @Test(arguments: tables)
    func `a table is a name with options`(
        text: String, flavour: BackendFlavour, options: TableOptions
    ) throws {
        let table = try #require(BackendTable(text))
        #expect(table.name.text == String(text.prefix { $0 != ":" }))
        #expect(table.options(of: flavour) == options)
    }

    @Test(arguments: [
        "", "1st", "a b", "movies:", "movies:Integer", "movies:integer,soft", "movies:hard+soft",
        "movies:reused-ids",
        "movies:integer+", ":integer", "movies=integer", "t:read=maybe", "t:reads=anonymous",
        "t:per-user=id", "t:per-user=", "t:anonymous+authenticated", "t:per-user+anonymous",
        "t:per-user+read=anonymous", "t:unique=", "t:unique=id", "t:references=a",
        "t:references=a.",
        "t:references=id.b", "t:read=anonymous+read=disabled",
    ])
    func `other texts are refused with the allowed ones`(text: String) throws {
        #expect(BackendTable(text) == nil)
        guard !text.isEmpty else { return }
        let problem = #expect(throws: ConfigurationProblem.self) {
            try Sources(flags: ["table": [text]]) { _ in nil }.list(Settings.backendTable)
        }
        let sentence = problem?.startProblem.sentence ?? ""
        #expect(sentence.contains("--table is \"\(text)\", but must be"), "\(sentence)")
        #expect(sentence.contains("no-undelete"), "\(sentence)")
    }

    static let levels: [(String, AccessLevel, TableOptions)] = {
        let all = Set(TableOptions.Operation.allCases)
        return [
            ("t", .authenticated, TableOptions(signedIn: all)), ("t", .anonymous, TableOptions()),
            ("t", .disabled, TableOptions(disabled: all)),
            ("t:anonymous", .disabled, TableOptions()),
            ("t:authenticated", .anonymous, TableOptions(signedIn: all)),
            (
                "t:read=anonymous+delete=disabled", .authenticated,
                TableOptions(disabled: [.delete], signedIn: [.insert, .update, .undelete])
            ),
            ("t:per-user", .disabled, TableOptions(signedIn: all, ownerColumn: "userId")),
            (
                "t:per-user=owner+no-delete", .anonymous,
                TableOptions(disabled: [.delete], signedIn: all, ownerColumn: "owner")
            ),
        ]
    }()

    @Test(arguments: levels)
    func `where tokens are verified each verb has a level`(
        text: String, standard: AccessLevel, options: TableOptions
    ) throws {
        let table = try #require(BackendTable(text))
        #expect(table.options(of: .mobileApps, verified: standard) == options)
    }

    private func configuration(
        _ flags: [String: [String]], access: AccessLevel = .authenticated
    ) throws(StartProblem) -> BackendServeConfiguration {
        try BackendServeConfiguration(
            Sources(flags: flags, environment: { $0 == "XDG_DATA_HOME" ? "/" : nil }),
            access: access)
    }

    @Test func `a sign-in allows nothing that the table forbids`() throws {
        let options = try configuration(
            [
                Settings.backendTable.name: ["a:per-user=owner+no-delete", "b"],
                Settings.signIn.name: ["a", "c"],
            ], access: .disabled
        ).options
        let tables = try ["a", "b", "c"].map { options.tables[try #require(TableName($0))] }
        #expect(tables.map { $0?.ownerColumn } == ["owner", nil, "userId"])
        let disabled: [Set<TableOptions.Operation>?] = [
            [.delete], Set(TableOptions.Operation.allCases), [],
        ]
        #expect(tables.map { $0?.disabled } == disabled)
    }

    @Test func `a table is said once`() {
        let problem = #expect(throws: StartProblem.self) {
            try configuration([Settings.backendTable.name: ["todos:per-user", "Todos"]])
        }
        #expect(problem?.sentence.contains("--table Todos is said twice") == true)
    }
}
