import Backend
import Proxy
import TablesProtocol
import Testing

@testable import understudy

/// The values of `understudy backend --table`.
@Suite struct BackendTableTests {
    static let tables: [(String, BackendFlavour, TableOptions)] = [
        ("movies", .express, TableOptions(softDelete: false)),
        ("movies", .node, TableOptions()),
        ("movies:soft", .express, TableOptions()),
        ("movies:hard", .node, TableOptions(softDelete: false)),
        ("n:integer", .express, TableOptions(softDelete: false, idKind: .integer)),
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
        "movies:integer+", ":integer", "movies=integer",
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
}
