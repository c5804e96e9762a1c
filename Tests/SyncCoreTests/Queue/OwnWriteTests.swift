import TablesProtocol
import Testing

@testable import SyncCore

/// A client names the version that its own write was answered with, after the item has got another one.
@Suite struct OwnWriteTests {
    let fixture: StoreFixture
    init() throws { fixture = try StoreFixture() }

    private static let id = "a"

    private func columns(_ text: String) throws -> Columns { try Columns(parsing: text) }

    private func version() async throws -> String {
        try #require(try await fixture.row(Self.id)).version
    }

    /// The backend takes the first operation, and its answer has these columns.
    private func push(_ text: String, version: String, isOwn: Bool = true) async throws {
        let row = try fixture.remote(Self.id, text, version: version)
        try await fixture.push { _ in .applied(row: row, RowOrigin(isOwnAnswer: isOwn)) }
    }

    private func insertedWithOwner() async throws -> Item {
        let item = try await fixture.insert(Self.id, #"{"text":"t","n":1}"#)
        try await push(#"{"text":"t","n":1,"owner":"me"}"#, version: "s1")
        #expect(try await version() != item.version)
        return item
    }

    private enum Verb: CaseIterable {
        case patch, patchOwner, put, delete, patchDeleted

        func action() throws -> WriteAction {
            let id = try ItemID(OwnWriteTests.id)
            return switch self {
            case .patch: .update(id, Columns(stored: #"{"text":"t2"}"#))
            case .patchOwner: .update(id, Columns(stored: #"{"owner":"you"}"#))
            case .put: .replace(id, Columns(stored: #"{"text":"t2","n":1}"#))
            case .delete: .delete(id)
            case .patchDeleted: .patch(id, Columns(stored: #"{"text":"t2"}"#), deleted: true)
            }
        }
    }

    @Test(arguments: Verb.allCases)
    private func `a column that the backend set is no other writer's`(_ verb: Verb) async throws {
        let item = try await insertedWithOwner()
        let outcome = await fixture.write(try verb.action(), ifMatch: .versions([item.version]))
        #expect(["updated", "deleted"].contains(outcome.name))
        let row = try #require(try await fixture.row(Self.id))
        switch verb {
        case .patch, .put, .patchDeleted:
            #expect(
                row.columns.changedNames(from: try columns(#"{"text":"t2","n":1,"owner":"me"}"#))
                    .isEmpty)
        case .patchOwner: #expect(row.columns["owner"]?.text == #""you""#)
        case .delete: #expect(row.deleted)
        }
        // That write has a version of its own, and ends the earlier one.
        let again = await fixture.write(try verb.action(), ifMatch: .versions([item.version]))
        #expect(
            again.name
                == (row.deleted ? verb == .delete ? "deleted" : "gone" : "preconditionFailed"))
    }

    @Test func `a replacement is sent with the columns that its client does not know`() async throws
    {
        let item = try await insertedWithOwner()
        _ = await fixture.write(try Verb.put.action(), ifMatch: .versions([item.version]))
        let operation = try #require(try await fixture.chain(Self.id).first)
        #expect(operation.changedColumns == ["text"])
        #expect(operation.baseVersion == "s1")
    }

    @Test(arguments: Verb.allCases)
    private func `another writer's value of the written column ends the version`(_ verb: Verb)
        async throws
    {
        let item = try await insertedWithOwner()
        try await fixture.pull(
            fixture.remote(Self.id, #"{"text":"theirs","n":1,"owner":"me"}"#, version: "s2+"))
        let outcome = await fixture.write(try verb.action(), ifMatch: .versions([item.version]))
        #expect(outcome.name == "preconditionFailed")
        #expect(try await fixture.row(Self.id)?.columns["text"]?.text == #""theirs""#)
    }

    @Test(arguments: Verb.allCases)
    private func `another writer's value of a further column is replaced by no write`(_ verb: Verb)
        async throws
    {
        let item = try await insertedWithOwner()
        try await fixture.pull(
            fixture.remote(Self.id, #"{"text":"t","n":1,"owner":"theirs"}"#, version: "s2+"))
        let outcome = await fixture.write(try verb.action(), ifMatch: .versions([item.version]))
        #expect(outcome.name == (verb == .patch ? "updated" : "preconditionFailed"))
        #expect(try await fixture.row(Self.id)?.columns["owner"]?.text == #""theirs""#)
    }

    @Test func `a sent value that the backend changed ends the version`() async throws {
        let item = try await fixture.insert(Self.id, #"{"text":" t ","n":1}"#)
        try await push(#"{"text":"t","n":1}"#, version: "s1")
        let outcome = await fixture.write(
            try Verb.patch.action(), ifMatch: .versions([item.version]))
        #expect(outcome.name == "preconditionFailed")
    }

    @Test func `a column that was sent as null and set by the backend ends the version`()
        async throws
    {
        let item = try await fixture.insert(Self.id, #"{"text":"t","owner":null}"#)
        try await push(#"{"text":"t","owner":"me"}"#, version: "s1")
        let outcome = await fixture.write(
            try Verb.patch.action(), ifMatch: .versions([item.version]))
        #expect(outcome.name == "preconditionFailed")
    }

    @Test func `of two writes the second one's version stays good`() async throws {
        let first = try await fixture.insert(Self.id, #"{"text":"t","n":1}"#)
        let second = try await fixture.update(Self.id, #"{"n":2}"#)
        try await push(#"{"text":"t","n":2,"owner":"me"}"#, version: "s1")
        let early = await fixture.write(
            try Verb.patch.action(), ifMatch: .versions([first.version]))
        #expect(early.name == "preconditionFailed")
        let late = await fixture.write(
            try Verb.patch.action(), ifMatch: .versions([second.version]))
        #expect(late.name == "updated")
    }

    @Test func `what an earlier write sent counts while it waits`() async throws {
        try await fixture.insert(Self.id, #"{"text":" t ","n":1}"#)
        let second = try await fixture.update(Self.id, #"{"n":2}"#)
        try await push(#"{"text":"t","n":2}"#, version: "s1")
        let outcome = await fixture.write(
            try Verb.patch.action(), ifMatch: .versions([second.version]))
        #expect(outcome.name == "preconditionFailed")
    }

    @Test func `another client's write here ends the version`() async throws {
        let item = try await fixture.insert(Self.id, #"{"text":"t","n":1}"#)
        try await fixture.update(Self.id, #"{"other":1}"#)
        let outcome = await fixture.write(
            try Verb.patch.action(), ifMatch: .versions([item.version]))
        #expect(outcome.name == "preconditionFailed")
    }

    @Test func `an answer that may have another writer's change is one of another writer`()
        async throws
    {
        let item = try await fixture.insert(Self.id, #"{"text":"t","n":1}"#)
        try await push(#"{"text":"t","n":1,"owner":"who"}"#, version: "s1", isOwn: false)
        let deleted = await fixture.write(
            try Verb.delete.action(), ifMatch: .versions([item.version]))
        #expect(deleted.name == "preconditionFailed")
        let changed = await fixture.write(
            try Verb.patch.action(), ifMatch: .versions([item.version]))
        #expect(changed.name == "updated")
    }

    @Test func `a read by the earlier version gives the row as it is`() async throws {
        let item = try await insertedWithOwner()
        let row = try #require(try await fixture.row(Self.id))
        let known = Conditions(ifNoneMatch: .versions([item.version]))
        #expect(known.verdict(versions: row.knownVersions, changed: row.item.updatedAt) == .holds)
    }

    @Test func `the version and the time in a body are the earlier write's too`() async throws {
        let item = try await insertedWithOwner()
        let outcome = await fixture.write(
            try Verb.patch.action(), Conditions(),
            stated: ItemBody.Stated(version: item.version, updatedAt: item.updatedAt))
        #expect(outcome.name == "updated")
    }

    @Test func `a restart keeps the version`() async throws {
        let item = try await insertedWithOwner()
        let store = try fixture.reopened()
        let outcome = await store.submit(
            LocalWrite(
                table: fixture.todo, action: try Verb.delete.action(),
                conditions: Conditions(ifMatch: .versions([item.version]))))
        #expect(outcome.name == "deleted")
    }

    @Test func `an update keeps its version when the backend answers with more`() async throws {
        try await fixture.pull(fixture.remote(Self.id, #"{"text":"t","n":1}"#, version: "s"))
        let item = try await fixture.update(Self.id, #"{"text":"t1"}"#)
        try await push(#"{"text":"t1","n":1,"editor":"me"}"#, version: "s1")
        let outcome = await fixture.write(
            try Verb.delete.action(), ifMatch: .versions([item.version]))
        #expect(outcome.name == "deleted")
    }
}
