import TablesProtocol
import Testing

@testable import SyncCore

/// Conditions of writes, and writes that depend on the item's deletion.
@Suite struct WriteConditionTests {
    let fixture: StoreFixture
    init() throws { fixture = try StoreFixture() }

    private func columns(_ text: String) throws -> Columns { try Columns(parsing: text) }

    /// The item as a client sees it, and its open operations.
    private func seen(_ id: String = "a") async throws -> String {
        let row = try #require(try await fixture.row(id))
        let open = try await fixture.chain(id).map(\.kind.rawValue)
        return "\(row.columns.text) \(row.deleted ? "deleted" : "live") \(open)"
    }

    @Test func `a failed condition changes nothing and returns the item`() async throws {
        let item = try await fixture.insert("a", #"{"n":1}"#)
        let now = item.updatedAt
        let early = Instant(milliseconds: now.milliseconds - 1)
        let failing: [Conditions] = [
            Conditions(ifMatch: .versions(["x"])), Conditions(ifNoneMatch: .any),
            Conditions(ifNoneMatch: .versions([item.version])),
            Conditions(unmodifiedSince: early), Conditions(modifiedSince: now),
            Conditions(unmodifiedSince: now, dateRule: .toolkit),
            Conditions(tests: [Columns.Column("n", .integer(2))]),
        ]
        let writes: [WriteAction] = [
            .update(item.id, try columns(#"{"n":2}"#)), .replace(item.id, Columns()),
            .delete(item.id), .undelete(item.id),
            .patch(item.id, Columns(), deleted: true), .patch(item.id, Columns(), deleted: false),
        ]
        for conditions in failing {
            for write in writes {
                let outcome = await fixture.write(write, conditions)
                #expect(outcome == .preconditionFailed(item), "\(write) \(conditions)")
            }
        }
        #expect(try await seen() == #"{"n":1} live ["insert"]"#)
    }

    @Test func `a met condition admits the write and is stored with it`() async throws {
        try await fixture.pull(fixture.remote("a", #"{"n":1}"#, version: "v1"))
        let row = try #require(try await fixture.row("a"))
        let holding = Conditions(
            ifMatch: .versions(["v1"]), ifNoneMatch: .versions(["x"]),
            tests: [
                Columns.Column("N", try JSONText(validating: "1.0")),
                Columns.Column("absent", .null), Columns.Column("id", .string("a")),
                Columns.Column("version", .string(row.version)),
                Columns.Column("version", .string("v1")),
                Columns.Column("updatedAt", .string(row.item.updatedAt.text)),
                Columns.Column("deleted", .bool(false)),
            ])
        let outcome = await fixture.write(
            .update(row.id, try columns(#"{"n":2}"#)), holding)
        #expect(outcome.name == "updated")
        #expect(try await fixture.chain("a").map(\.conditional) == [true])
        #expect(try await seen() == #"{"n":2} live ["update"]"#)
    }

    @Test(arguments: [
        ("n", "2"), ("n", "null"), ("n", "\"1\""), ("absent", "1"), ("id", "\"b\""),
        ("version", "\"v2\""), ("version", "null"), ("updatedAt", "\"2014-03-01T08:00:00Z\""),
        ("deleted", "true"), ("deleted", "null"),
    ])
    func `a test for another value fails`(name: String, value: String) async throws {
        try await fixture.pull(fixture.remote("a", #"{"n":1}"#, version: "v1"))
        let test = Columns.Column(name, try JSONText(validating: value))
        let outcome = await fixture.write(
            .update(try ItemID("a"), try columns(#"{"n":3}"#)), Conditions(tests: [test]))
        #expect(outcome.name == "preconditionFailed")
        #expect(try await seen() == #"{"n":1} live []"#)
    }

    @Test func `a body with another version or time is refused before other checks`()
        async throws
    {
        try await fixture.pull(
            fixture.remote("a", "{}", version: "v1", updatedAt: "2024-01-01T00:00:00.5Z"))
        let row = try #require(try await fixture.row("a"))
        func update(_ version: String?, _ updatedAt: Instant?) async throws -> WriteOutcome {
            await fixture.write(
                .update(row.id, Columns()), Conditions(),
                stated: ItemBody.Stated(version: version, updatedAt: updatedAt))
        }
        let theirs = try #require(Instant(iso: "2024-01-01T00:00:00.5Z"))
        #expect(try await update(row.version, row.item.updatedAt).name == "updated")
        #expect(try await update("v1", theirs).name == "updated")
        #expect(try await update("v2", nil) == .invalid("The version cannot be changed."))
        #expect(
            try await update(nil, .latest)
                == .invalid("The time of the last change cannot be changed."))
        try await fixture.pull(
            fixture.remote("a", "{}", version: "v2", deleted: true))
        #expect(try await update("v1", nil) == .invalid("The version cannot be changed."))
        #expect(try await update("v2", nil).name == "gone")
    }

    @Test func `a patch undeletes an item and changes it`() async throws {
        let id = try ItemID("a")
        try await fixture.pull(
            fixture.remote("a", #"{"n":1,"t":"x"}"#, version: "v1", deleted: true))
        let plain = await fixture.write(.update(id, try columns(#"{"n":2}"#)))
        #expect(plain.name == "gone")
        let back = await fixture.write(
            .patch(id, try columns(#"{"n":2}"#), deleted: false),
            Conditions(ifMatch: .versions(["v1"])))
        #expect(back.name == "updated" && back.item?.deleted == false)
        #expect(try await seen() == #"{"n":2,"t":"x"} live ["undelete", "update"]"#)
        let again = await fixture.write(.patch(id, Columns(), deleted: false))
        #expect(again.name == "updated")
        #expect(try await seen() == #"{"n":2,"t":"x"} live ["undelete", "update"]"#)
    }

    @Test func `a patch deletes an item, and a deleted item is gone`() async throws {
        let id = try ItemID("a")
        try await fixture.pull(fixture.remote("a", #"{"n":1}"#, version: "v1"))
        let outcome = await fixture.write(
            .patch(id, try columns(#"{"n":2}"#), deleted: true),
            Conditions(ifMatch: .versions(["v1"])))
        #expect(outcome.name == "updated" && outcome.item?.deleted == true)
        #expect(try await seen() == #"{"n":2} deleted ["delete"]"#)
        #expect(try await fixture.chain("a")[0].baseVersion == "v1")
        #expect(await fixture.write(.patch(id, Columns(), deleted: true)).name == "gone")
        #expect(try await seen() == #"{"n":2} deleted ["delete"]"#)
    }

    @Test func `the id of an unsent deletion is taken if the backend has soft delete`()
        async throws
    {
        let again = WriteAction.insert(
            ItemBody(id: try ItemID("a"), columns: try columns(#"{"n":2}"#)))
        try await fixture.pull(
            fixture.remote("a", #"{"n":1}"#, version: "v1"),
            fixture.remote("b", "{}", version: "v1", deleted: true))
        try await fixture.delete("a")
        let taken = await fixture.write(again)
        #expect(taken.name == "alreadyExists" && taken.item?.deleted == true)
        #expect(try await seen() == #"{"n":1} deleted ["delete"]"#)
        // An operator asks for the item to exist.
        #expect(await fixture.write(again, Conditions(), by: .person).name == "inserted")
        #expect(try await seen() == #"{"n":2} live ["update"]"#)
    }

    @Test func `the id of an unsent deletion is free if no soft delete was seen`()
        async throws
    {
        try await fixture.pull(fixture.remote("a", #"{"n":1}"#, version: "v1"))
        try await fixture.delete("a")
        try await fixture.insert("a", #"{"n":2}"#)
        #expect(try await seen() == #"{"n":2} live ["update"]"#)
    }

    @Test func `an item that the backend never had is inserted again in any table`() async throws {
        try await fixture.pull(fixture.remote("b", "{}", version: "v1", deleted: true))
        try await fixture.insert("a")
        try await fixture.delete("a")
        try await fixture.insert("a", #"{"n":2}"#)
        #expect(try await seen() == #"{"n":2} live ["insert"]"#)
    }
}
