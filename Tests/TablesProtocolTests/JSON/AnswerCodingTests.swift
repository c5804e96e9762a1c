import TablesProtocol
import Testing

/// How answers become JSON, and JSON answers.
struct AnswerCodingTests {
    private struct Inner: Codable, Hashable, Sendable {
        let number: Int64
        let words: [String]
    }

    private struct Outer: Codable, Hashable, Sendable {
        let name: String?
        let count: Int?
        let isOn: Bool?
        let size: Int64?
        let at: Instant?
        let inner: Inner?
        let all: [Inner]
        let row: JSONValue
    }

    private struct Row: Codable, Hashable, Sendable {
        let itemID: String
        let table: TableName
        let columns: Columns
        let value: JSONText?
    }

    private struct Partial: PartialAnswer, Hashable {
        let sure: Int
        var text: String?
        var next: String??
    }

    private let empty =
        #"{"name":null,"count":null,"isOn":null,"size":null,"at":null,"inner":null,"all":[],"row":null}"#

    @Test func `a member without a value is null, and the order is that of the declaration`() throws
    {
        let outer = Outer(
            name: nil, count: nil, isOn: nil, size: nil, at: nil, inner: nil, all: [], row: .null)
        #expect(JSONValue(answer: outer).text == empty)
        #expect(try Outer(answer: JSONValue(parsing: empty)) == outer)
    }

    @Test func `numbers and rows stay as they were received`() throws {
        let text =
            #"{"name":"é","count":1,"isOn":true,"size":9223372036854775807,"#
            + #""at":"2026-03-14T09:26:53.589Z","inner":{"number":-1,"words":[]},"#
            + #""all":[{"number":0,"words":["a"]}],"row":{"price":1.10,"big":12345678901234567890}}"#
        let outer = try Outer(answer: JSONValue(parsing: text))
        #expect(outer.size == .max)
        #expect(JSONValue(answer: outer).text == text)
    }

    @Test func `a row stays as it is stored, and an id has the name that JSON gives it`() throws {
        let text =
            #"{"itemId":"a","table":"todoitem","columns":{"b":1.0,"a":[null]},"value":null}"#
        let row = Row(
            itemID: "a", table: try #require(TableName("todoitem")),
            columns: Columns(stored: #"{"b":1.0,"a":[null]}"#), value: nil)
        #expect(JSONValue(answer: row).text == text)
        #expect(try Row(answer: JSONValue(parsing: text)) == row)
    }

    @Test(arguments: [
        ("{}", "It has no name."), ("[]", "It has another form."),
        (#"{"name":1}"#, "name has another form."),
    ])
    func `what is missing or has another form is named`(text: String, sentence: String) throws {
        let value = try JSONValue(parsing: text)
        let problem = #expect(throws: AnswerProblem.self) { try Outer(answer: value) }
        #expect(problem?.sentence == sentence)
    }

    @Test func `the place of a problem is a path`() throws {
        let text = empty.replacing(#""all":[]"#, with: #""all":[{"number":1,"words":[2]}]"#)
        let value = try JSONValue(parsing: text)
        let problem = #expect(throws: AnswerProblem.self) { try Outer(answer: value) }
        #expect(problem?.sentence == "all.0.words.0 has another form.")
    }

    @Test(
        arguments: [
            (#"{"sure":1}"#, nil, nil), (#"{"sure":1,"text":"a","next":null}"#, "a", .some(nil)),
            (#"{"sure":1,"next":"n"}"#, nil, "n"),
        ] as [(String, String?, String??)])
    func `a partial answer leaves members without a value out`(
        text: String, own: String?, next: String??
    ) throws {
        let partial = Partial(sure: 1, text: own, next: next)
        #expect(JSONValue(answer: partial).text == text)
        #expect(try Partial(answer: JSONValue(parsing: text)) == partial)
    }

    @Test func `an answer may have the members of two values, or none`() throws {
        struct Nothing: Codable {}
        struct Both: Encodable {
            func encode(to encoder: any Encoder) throws {
                try Inner(number: 1, words: []).encode(to: encoder)
                try Nothing().encode(to: encoder)
            }
        }
        #expect(JSONValue(answer: Both()).text == #"{"number":1,"words":[]}"#)
        #expect(JSONValue(answer: Nothing()).text == "{}")
    }
}
