import Backend
import Program
import TablesProtocol
import Testing

@testable import understudy_site

/// Columns of rows that move in, as the settings of the backend see them.
@Suite struct MovedColumnsTests {
    private func found(
        _ flags: [String: [String]], _ rows: [String], deleted: Bool = false,
        _ outcome: MoveOutcome = .added
    ) throws -> MovedColumns {
        var columns = try MovedColumns(Sources(flags: flags) { _ in nil })
        let table = try #require(TableName("Todos"))
        for row in rows {
            columns.add(
                MovedRow(id: "a", columns: try Columns(parsing: row), deleted: deleted), of: table,
                .string, outcome)
        }
        return columns
    }

    @Test func `columns that the flavour has for itself are counted`() throws {
        let rows = [#"{"version":1,"text":"t"}"#, #"{"text":"t"}"#, #"{"deleted":1,"version":2}"#]
        let second = try found([:], rows)
        #expect(
            second.hiddenJSON.text
                == #"[{"table":"Todos","rows":2,"columns":["deleted","version"]}]"#)
        #expect(second.lines(advice: "Begin").count == 1)
        #expect(try found(["flavour": ["1"]], rows).hiddenJSON.text == "[]")
    }

    @Test(arguments: [["table": ["todos:per-user"]], ["sign-in": ["todos"]]])
    func `rows without an owner are counted where each user has rows`(
        flags: [String: [String]]
    ) throws {
        let rows = [
            #"{"userId":"aad:1"}"#, #"{"USERID":"aad:1"}"#, #"{"userId":null}"#, #"{"text":"t"}"#,
        ]
        let columns = try found(flags, rows)
        #expect(
            columns.withoutOwnerJSON.text == #"[{"table":"Todos","rows":2,"column":"userId"}]"#)
        #expect(columns.hasRowsWithoutOwner)
        #expect(try !found(flags, rows, deleted: true).hasRowsWithoutOwner)
        #expect(try !found([:], rows).hasRowsWithoutOwner)
    }

    @Test(arguments: MoveOutcome.allCases)
    func `only rows that are here as they came are counted`(outcome: MoveOutcome) throws {
        let columns = try found(["table": ["todos:per-user"]], [#"{"version":1}"#], outcome)
        let isCounted = [.added, .replaced, .same].contains(outcome)
        let lines = [
            "Todos: 1 row has columns that clients of the flavour 2 do not see, since the server's own "
                + "have these names: version. They stay in the database.",
            "Todos: 1 row has no owner in userId, so no user sees it. Copy again, and name the user with "
                + "--owner and --owned-table.",
        ]
        #expect(columns.hasRowsWithoutOwner == isCounted)
        #expect(columns.lines(advice: "Copy again") == (isCounted ? lines : []))
    }

    @Test func `without verified tokens all users of the Express flavour see all rows`() throws {
        let rows = [#"{"text":"t"}"#]
        let express = ["flavour": [BackendFlavour.express.rawValue], "sign-in": ["todos"]]
        #expect(try !found(express, rows).hasRowsWithoutOwner)
        let verified = express.merging(["access-file": ["/a"]]) { $1 }
        #expect(try found(verified, rows).hasRowsWithoutOwner)
        let named = express.merging(["table": ["todos:per-user"]]) { $1 }
        #expect(try found(named, rows).hasRowsWithoutOwner)
    }

    private func options(owner: String, column: String = "userId") -> MovedOwnerOptions {
        var options = MovedOwnerOptions()
        options.owner = owner
        options.ownerWas = []
        options.ownedTable = ["todos"]
        options.ownerColumn = column
        return options
    }

    @Test(arguments: ["id", "ID", "version", "Deleted", "createdAt", "__version", "", "a b"])
    func `the column of an owner is a user's column`(name: String) {
        let named = options(owner: "aad:1", column: name)
        #expect(throws: (any Error).self) { try named.read() }
    }

    @Test func `an owner has an id`() throws {
        let nobody = options(owner: "")
        #expect(throws: (any Error).self) { try nobody.read() }
        #expect(try options(owner: "aad:1").read()?.user == "aad:1")
    }
}
