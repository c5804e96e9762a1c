import Backend
import Foundation
import TablesProtocol
import Testing

/// Replays what a real Node server was asked, in the same order, and compares the answers.
@Suite struct NodeReplayTests {
    /// Answers that are not compared, with the reason.
    static let different: [Int: String] = [
        101: "its SQLite driver writes 'text + %', so that startswith finds nothing",
        102: "its SQLite driver has no LEN",
        106: "its SQLite driver compares the version's text with its bytes",
        114: "the backend describes itself nowhere",
    ]
    /// Answers whose sentence is the JavaScript engine's or parser's own.
    static let otherWords: Set = [10, 22, 25, 66]

    @Test func `the node flavour answers like the server that was captured`() throws {
        #expect(Capture.all.map(\.number) == Array(1...114))
        let client = try Client(Self.options, random: RecordedIDs())
        for capture in Capture.all {
            if capture.number == 74 { try insertPages(client) }
            let answer = try client.send(
                capture.method, capture.target,
                capture.requestBody ?? "{\"text\":\"\(String(repeating: "x", count: 120_000))\"}",
                capture.requestFields)
            guard Self.different[capture.number] == nil else { continue }
            compare(answer, capture)
        }
    }

    private func compare(_ answer: Client.Answer, _ capture: Capture) {
        let comment = Comment(rawValue: "\(capture.number) \(capture.title)")
        #expect(answer.status == capture.status, comment)
        for name in Self.comparedFields {
            let (mine, theirs) = (answer.field(name), capture.fields[name])
            if theirs?.hasPrefix("W/") == true, Self.otherWords.contains(capture.number) {
                #expect(mine?.hasPrefix("W/") == true, comment)
            } else {
                #expect(Self.tag(mine) == Self.tag(theirs), "\(comment) \(name)")
            }
        }
        if Self.otherWords.contains(capture.number) {
            #expect(answer.json["error"]?.string?.isEmpty == false, comment)
        } else {
            #expect(String(answer.text.utf8.count) == capture.fields["content-length"], comment)
            guard let body = capture.body else { return }
            #expect(Self.comparable(answer.text) == Self.comparable(body), comment)
        }
    }

    private func insertPages(_ client: Client) throws {
        for number in 1...55 {
            let id = "p" + String(1000 + number).dropFirst()
            try client.send(
                "POST", "/tables/todoitem_hard", "{\"id\":\"\(id)\",\"text\":\"page\"}",
                [("ZUMO-API-VERSION", "2.0.0"), ("Content-Type", "application/json")])
        }
    }

    private static let comparedFields = [
        "content-type", "etag", "link", "allow", "cache-control", "expires", "pragma",
        "x-powered-by", "x-zumo-server-version", "content-security-policy",
        "x-content-type-options", "location", "access-control-allow-origin",
        "access-control-expose-headers", "access-control-allow-headers",
        "access-control-allow-methods", "access-control-max-age",
    ]

    private static var options: BackendOptions {
        var options = BackendOptions(flavour: .node)
        options.dynamicTable = nil
        options.unknownTable = .notFound
        options.tokens = .only([])
        let columns = [
            TableOptions.Column("text", .string), TableOptions.Column("complete", .boolean),
        ]
        for (name, softDelete, needsSignIn) in [
            ("todoitem", true, false), ("todoitem_hard", false, false),
            ("todoitem_auth", true, true),
        ] {
            guard let name = TableName(name) else { continue }
            options.tables[name] = TableOptions(
                softDelete: softDelete, needsSignIn: needsSignIn, columns: columns)
        }
        return options
    }

    /// A weak tag without its digest: `W/"2-`.
    private static func tag(_ value: String?) -> String? {
        guard let value, value.hasPrefix("W/") else { return value }
        return String(value.prefix { $0 != "-" })
    }

    /// The text with every time replaced by the same letters, without empty lines at its end.
    private static func comparable(_ text: String) -> String {
        text.trimmingCharacters(in: .newlines).replacing(
            /"(createdAt|updatedAt)":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"/
        ) { match in
            "\"\(match.1)\":\"time\""
        }
    }
}

/// Gives the ids that the captured server gave, in their order.
private struct RecordedIDs: RandomNumberGenerator, Sendable {
    private var words: [UInt64] = [
        0x471C_5DA1_3C98_4541, 0xA5EC_05E6_8B68_D61E, 0xF912_B2BD_EB08_4960, 0x8244_29F8_4564_CA3B,
    ]
    mutating func next() -> UInt64 { words.isEmpty ? 0 : words.removeFirst() }
}
