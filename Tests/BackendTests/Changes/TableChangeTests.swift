import Dispatch
import TablesProtocol
import TestSupport
import Testing

@testable import Backend
@testable import Site

@Suite struct TableChangeTests {
    private func change(
        _ table: String, _ milliseconds: Int64?, _ owner: String? = nil
    ) throws -> TableChange {
        TableChange(
            table: try #require(TableName(table)), stamp: milliseconds.map(TableUnderTest.moment),
            owner: owner)
    }

    @Test func `an announcement is read as it was written`() throws {
        for one in [
            try change("todos", 5), try change("a-b_c", 5, "aad:ana"),
            try change("a", 5, "with a space ä"),
        ] {
            #expect(TableChange(announcement: one.announcement) == one)
        }
        for text in ["", "5", "x todos", "-1 todos", "5 ../x", "5  todos"] {
            #expect(TableChange(announcement: text) == nil, "\(text)")
        }
    }

    @Test func `of each table and owner the last change is left`() throws {
        let changes = [
            try change("a", 1), try change("a", 2, "ana"), try change("A", 3), try change("b", 4),
            try change("a", 5, "ben"), try change("a", 6, "ana"),
        ]
        #expect(
            TableChange.latest(changes)
                == [changes[2], changes[3], changes[4], changes[5]])
    }

    @Test func `many followers get more time`() {
        let milliseconds = [1, 500, 5_000, 10_000, 1_000_000].map {
            ChangeFeed.spreadMilliseconds(followers: $0)
        }
        #expect(milliseconds == [1_000, 1_000, 10_000, 20_000, 60_000])
    }

    @Test(.ends, arguments: StorageUnderTest.all)
    func `a storage tells its tables, then each write that is kept`(kind: StorageUnderTest)
        async throws
    {
        let table = try TableUnderTest(kind)
        let (old, news) = try await onThread { (try table.insert("a"), Mailbox()) }
        table.storage.tellChanges { news.put($0) }
        #expect(
            await news.next() == .tables([TableChange(table: table.name, stamp: old.updatedAt)]))
        let told = try await onThread {
            var told: [TableChange] = []
            var write = table.write(at: 5)
            let new = try table.insert("b", "{}", write)
            told.append(TableChange(table: table.name, stamp: new.updatedAt))
            try table.insert("c", "{}", table.write(at: 6, isKept: false))
            #expect(try table.update(old, "{}", table.write(at: 7)) != nil)
            // It is not as it was read any more.
            #expect(try table.update(old, "{}", table.write(at: 8)) == nil)
            told.append(
                TableChange(
                    table: table.name, stamp: try table.storage.get("a", in: table.name)?.updatedAt)
            )
            write.owner = "ana"
            let owned = try table.insert("d", "{}", write)
            told.append(TableChange(table: table.name, stamp: owned.updatedAt, owner: "ana"))
            return told
        }
        var heard: [TableChange] = []
        while heard.count < told.count {
            guard case .changed(let changes) = await news.next() else { break }
            heard += changes
        }
        #expect(heard == told)
    }

    private func onThread<T: Sendable>(_ body: @escaping @Sendable () throws -> T) async throws -> T
    {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(with: Result { try body() }) }
        }
    }
}

/// News in the order in which they came.
private final class Mailbox: Sendable {
    private let stream: AsyncStream<ChangeNews>
    private let continuation: AsyncStream<ChangeNews>.Continuation

    init() { (stream, continuation) = AsyncStream.makeStream() }

    func put(_ news: ChangeNews) { continuation.yield(news) }

    func next() async -> ChangeNews? { await stream.first { _ in true } }
}
