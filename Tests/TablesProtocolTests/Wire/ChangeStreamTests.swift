import Testing

@testable import TablesProtocol

@Suite struct ChangeStreamTests {
    private func table(_ text: String) throws -> TableName { try #require(TableName(text)) }

    private func read(_ pieces: [[UInt8]]) throws -> [ChangeEvent] {
        var reader = ChangeStreamReader()
        return try pieces.flatMap { try reader.take($0) }
    }

    @Test func `events are read as they were written, in pieces of any size`() throws {
        let stamp = try #require(Instant(iso: "2026-11-28T08:00:00.123Z"))
        let events: [ChangeEvent] = [
            .spread(milliseconds: 20_000), .change(try table("TodoItem"), updatedAt: stamp),
            .reset, .change(try table("notes"), updatedAt: nil),
        ]
        let bytes = Array((ChangeEvent.heartbeat + events.map(\.text).joined()).utf8)
        #expect(try read([bytes]) == events)
        for count in 1...7 {
            let pieces = stride(from: 0, to: bytes.count, by: count).map {
                Array(bytes[$0..<min($0 + count, bytes.count)])
            }
            #expect(try read(pieces) == events)
        }
        let windows = String(decoding: bytes, as: UTF8.self).replacing("\n", with: "\r\n")
        #expect(try read([Array(windows.utf8)]) == events)
    }

    @Test func `what is no known event is left out`() throws {
        let text = """
            id: 4
            event: item
            data: {"table":"a"}

            event: change
            data: {"table":"../a"}

            event: change
            data: nothing

            data: {"table":"a"}

            retry: soon
            event:change
            data:{"table":"a","updatedAt":"yesterday","more":1}


            """
        #expect(try read([Array(text.utf8)]) == [.change(try table("a"), updatedAt: nil)])
    }

    @Test func `a line without an end is refused`() {
        var reader = ChangeStreamReader()
        let long = [UInt8](repeating: UInt8(ascii: "x"), count: ChangeStreamReader.lineBytes + 1)
        #expect(throws: ChangeStreamReader.TooLong.self) { try reader.take(long) }
    }

    @Test(arguments: [
        ("changes", "text/event-stream", true), ("Changes", "Text/Event-Stream; q=1", true),
        ("changes", "application/json, text/event-stream", true), ("changes", "*/*", false),
        ("changes", "text/*", false), ("changes", "application/json", false),
        ("changes", nil, false), ("todoitem", "text/event-stream", false),
    ])
    func `only a request for changes that accepts events asks for the stream`(
        name: String, accept: String?, isAsked: Bool
    ) throws {
        #expect(ChangeStream.isAsked(for: try table(name), accept: accept) == isAsked)
    }
}
