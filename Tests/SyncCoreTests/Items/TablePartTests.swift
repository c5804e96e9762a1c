import TablesProtocol
import Testing

@testable import SyncCore

@Suite struct TablePartTests {
    /// A list as a client of a generation asks for it.
    private func list(
        _ pairs: String, _ generation: Generation = .mobileApps
    ) throws -> TableQuery {
        try TableQuery.parse(QueryParameter.split(pairs[...]), generation: generation)
    }

    @Test(arguments: [
        "complete eq false", "false eq complete", "COMPLETE eq false",
        "complete eq false and rank gt 2", "(rank gt 2) and (complete eq false)",
        "updatedAt ge datetimeoffset'2026-01-01T00:00:00.000Z' and (complete eq false)",
    ])
    func `a list that has the part's condition is within it`(filter: String) throws {
        let part = try TablePart(parsing: "$filter=complete eq false")
        let asked = part.asked(try list("$filter=\(filter)"), from: nil)
        #expect(asked == (try list("$filter=\(filter)")))
    }

    @Test(arguments: [
        "", "$filter=complete eq true", "$filter=complete eq false or rank gt 2",
        "$filter=not (complete eq false)", "$filter=rank gt 2", "$top=5", "$filter=id eq 'a'",
    ])
    func `any other list is beyond the part`(pairs: String) throws {
        let part = try TablePart(parsing: "$filter=complete eq false")
        #expect(part.asked(try list(pairs), from: .mobileApps) == nil)
    }

    @Test func `each condition of the part must be there, in any order and any form`() throws {
        let part = try TablePart(parsing: "$filter=(a eq 1 or b eq 'x') and rank ge 2")
        for filter in [
            "rank ge 2 and (b eq 'x' or 1 eq a)", "2L le rank and (a eq 1L or b eq 'x') and c eq 3",
        ] {
            #expect(
                part.asked(try list("$filter=\(filter)"), from: nil) != nil,
                "\(filter)")
        }
        for filter in ["rank ge 2", "a eq 1 and rank ge 2", "rank gt 2 and (a eq 1 or b eq 'x')"] {
            #expect(
                part.asked(try list("$filter=\(filter)"), from: nil) == nil,
                "\(filter)")
        }
    }

    @Test func `the dialect of the third generation means the same`() throws {
        let time = "2026-01-01T00:00:00Z"
        let part = try TablePart(
            parsing: "$filter=substringof('a',text) and due ge datetime'\(time)' and rank eq 1")
        let query = try list(
            "$filter=contains(text,'a') and due ge cast(2026-01-01T00:00:00.000Z,"
                + "Edm.DateTimeOffset) and rank in (1)", .datasync)
        #expect(part.asked(query, from: nil) != nil)
    }

    @Test
    func `null fits ne for a client of the third generation, and is copied from such a backend`()
        throws
    {
        let part = try TablePart(parsing: "$filter=text ne 'a'")
        let third = try list("$filter=text ne 'a'", .datasync)
        let second = try list("$filter=text ne 'a'")
        for backend in [nil, Generation.mobileServices, .mobileApps] {
            #expect(part.asked(third, from: backend) == nil)
            #expect(part.asked(second, from: backend) == second)
        }
        #expect(part.asked(third, from: .datasync) == third)
        #expect(part.asked(second, from: .datasync) == second)
        let strict = try list("$filter=text ne 'a' and text ne null", .datasync)
        #expect(part.asked(strict, from: .mobileApps) == strict)
    }

    @Test func `a part that is named by query pairs has no list without them`() throws {
        let part = try TablePart(parsing: "$filter=complete eq false&list=7")
        #expect(part.query.parameters == ["list=7"])
        #expect(part.asked(try list("$filter=complete eq false"), from: nil) == nil)
        #expect(try TablePart(parsing: "list=7").asked(try list(""), from: nil) == nil)
    }

    @Test func `a list with tombstones shows each, whatever its columns were last`() throws {
        let part = try TablePart(parsing: "complete eq false")
        let time = "updatedAt ge datetimeoffset'2026-01-01T00:00:00.000Z'"
        let sync = try list("$filter=complete eq false and \(time)&__includeDeleted=true")
        let asked = try #require(part.asked(sync, from: nil))
        let wanted = try list(
            "$filter=\(time) and (complete eq false or deleted eq true)&__includeDeleted=true")
        #expect(asked == wanted)
        #expect(asked.changedSince == sync.changedSince)
    }

    @Test(arguments: [
        "", "$filter=", "$top=5", "$filter=complete eq", "$filter=a eq 1&$orderby=a",
        "$filter=updatedAt gt datetime'2026-01-01'", "$filter=deleted eq false",
        "$filter=not (version eq 'a')", "$filter=due lt now()",
    ])
    func `what names no part of the rows is refused with a reason`(text: String) {
        let error = #expect(throws: ODataError.self) { try TablePart(parsing: text) }
        #expect(error?.reason.isEmpty == false)
    }
}
