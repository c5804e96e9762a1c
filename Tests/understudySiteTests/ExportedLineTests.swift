import Backend
import TablesProtocol
import Testing

@testable import understudy_site

/// Lines of an export, as a backend reads them.
@Suite struct ExportedLineTests {
    /// A row with further members.
    private func line(_ members: String) throws -> ExportedLine {
        try ExportedLine(
            Array(
                (#"{"type":"server","table":"t","idKind":"string","id":"a","columns":{},"#
                    + #""deleted":false\#(members)}"#).utf8))
    }

    @Test(arguments: ["version", "createdAt", "updatedAt"])
    func `a version or time is a text, null or absent`(name: String) throws {
        for value in ["7", "true", "{}", "[]"] {
            let fault = #expect(throws: ExportedLine.Fault.self) {
                try line(#","\#(name)":\#(value)"#)
            }
            #expect(fault?.words == "has a \(name) that is no text")
        }
        for members in ["", #","\#(name)":null"#] {
            guard case .row(_, _, let row) = try line(members) else {
                Issue.record("no row")
                return
            }
            #expect(row == MovedRow(id: "a", columns: row.columns))
        }
    }

    @Test func `a deletion without a stamp of its own is 100 ns later than the row before`()
        throws
    {
        let before = "2026-02-03T04:05:06.1234567Z"
        guard
            case .row(_, _, let row) = try line(
                #","updatedAt":"\#(before)","deletedSince":true"#)
        else {
            Issue.record("no row")
            return
        }
        #expect(row.updatedAt == Instant(parsing: "2026-02-03T04:05:06.1234568Z"))
    }

    @Test(arguments: [
        ("9007199254740992", true), ("9007199254740993", false), ("9223372036854775807", false),
        ("9223372036854775808", false), ("0", false), ("07", false),
    ])
    func `an integer id is one that JSON numbers can be`(id: String, isTaken: Bool) throws {
        let bytes = Array(
            (#"{"type":"server","table":"t","idKind":"integer","id":"\#(id)","columns":{},"#
                + #""deleted":false}"#).utf8)
        if isTaken {
            guard case .row(_, .integer, let row) = try ExportedLine(bytes) else {
                Issue.record("no row")
                return
            }
            #expect(row == MovedRow(id: id, columns: row.columns))
        } else {
            let fault = #expect(throws: ExportedLine.Fault.self) { try ExportedLine(bytes) }
            #expect(fault?.words.contains(" id ") == true)
        }
    }

    @Test func `a version with U+0000 is refused, which PostgreSQL cannot keep`() {
        let fault = #expect(throws: ExportedLine.Fault.self) {
            try line(#","version":"a\u0000b""#)
        }
        #expect(fault?.words == "has a version with U+0000")
    }

    @Test func `a deletion whose order is not known has no stamp`() throws {
        guard
            case .row(_, _, let row) = try line(#","updatedAt":null,"deletedSince":true"#)
        else {
            Issue.record("no row")
            return
        }
        #expect(row == MovedRow(id: "a", columns: row.columns))
    }

    @Test func `a version and times are taken as they are`() throws {
        let times = ["2026-01-02T03:04:05.1234567Z", "2026-02-03T04:05:06.7Z"]
        guard
            case .row(_, _, let row) = try line(
                #","version":"AAE=","createdAt":"\#(times[0])","updatedAt":"\#(times[1])""#)
        else {
            Issue.record("no row")
            return
        }
        #expect(row.version == "AAE=")
        #expect(row.createdAt != nil && row.createdAt == Instant(parsing: times[0]))
        #expect(row.updatedAt != nil && row.updatedAt == Instant(parsing: times[1]))
    }
}
