import HTTPMessage
import HTTPTypes
import TablesProtocol
import Testing

@testable import SyncCore

@Suite struct AnswerReaderTests {
    private let reader = AnswerReader(
        generation: .mobileApps, now: Instant(milliseconds: 1_700_000_000_000))

    private func response(
        _ status: Int, _ body: String = "", type: String? = "application/json",
        fields: HTTPFields = [:]
    ) -> Response {
        var fields = fields
        fields[.contentType] = type
        return Response(
            status: .init(code: status), headerFields: fields, body: Array(body.utf8))
    }

    @Test func `a row keeps the raw text of its times, version and numbers`() throws {
        let body =
            #"{"id":"x","n":1.10,"updatedAt":"2020-01-01T00:00:00.1234567+00:00","version":"AA=","deleted":false,"createdAt":null}"#
        guard case .row(let row) = reader.write(response(200, body)) else {
            throw World.Failure("no row")
        }
        #expect(row.updatedAt == "2020-01-01T00:00:00.1234567+00:00")
        #expect(row.version == "AA=")
        #expect(row.columns.text == #"{"n":1.10}"#)
        #expect(row.deleted == false)
    }

    @Test func `a byte order mark before JSON is skipped`() throws {
        guard case .row(let row) = reader.write(response(200, "\u{FEFF}{\"id\":\"x\"}")),
            case .rows(let page) = reader.list(
                response(200, "\u{FEFF}[{\"id\":\"y\"}]"), of: "/tables/t")
        else { throw World.Failure("no row") }
        #expect(row.id.text == "x")
        #expect(page.rows.map(\.id.text) == ["y"])
        #expect(
            reader.list(response(400, "\u{FEFF}{\"error\":\"no\"}"), of: "/tables/t")
                == .rejected(status: 400, text: "no"))
    }

    /// Texts of a backend that no Unicode text can hold, and how they are read.
    private static let cut: [([UInt8], String)] = [
        (Array(#"a\ud83d"#.utf8), "a\u{FFFD}"),
        (Array(#"\uDE00b\ud83d\u0041"#.utf8), "\u{FFFD}b\u{FFFD}A"),
        (Array(#"\ud83d\ud83d\ude00"#.utf8), "\u{FFFD}\u{1F600}"),
        (Array(#"\\ud83d\\\ud83d"#.utf8), "\\ud83d\\\u{FFFD}"),
        ([0x61, 0xF0, 0x9F, 0x98], "a\u{FFFD}"), ([0xE9, 0x62], "\u{FFFD}b"),
    ]

    @Test(arguments: cut)
    func `what no text can hold is a replacement character, but not in an id`(
        text: [UInt8], expected: String
    ) throws {
        func answer(_ body: [UInt8]) -> Response { Response(status: .ok, body: body) }
        func object(_ id: [UInt8]) -> [UInt8] {
            Array(#"{"id":""#.utf8) + id + Array(#"","text":""#.utf8) + text + Array(#""}"#.utf8)
        }
        let body = object(Array("x".utf8))
        guard case .row(let row) = reader.write(answer(body)),
            case .rows(let page) = reader.list(
                answer(Array("[".utf8) + body + Array("]".utf8)), of: "/tables/t")
        else { throw World.Failure("no row") }
        #expect(row.columns["text"]?.string == expected && page.rows == [row])
        #expect(reader.write(answer(object(text))) == .unusable(status: 200, .notJSON))
    }

    @Test func `the ETag is the version if the body has none`() throws {
        let answer = reader.write(response(200, #"{"id":"x"}"#, fields: [.eTag: #""a\"b""#]))
        guard case .row(let row) = answer else { throw World.Failure("no row") }
        #expect(row.version == #"a"b"#)
    }

    @Test(arguments: [
        (204, "", RemoteAnswer.empty), (200, "  \r\n", .empty),
        (401, "", .unauthorized), (404, "", .missing(status: 404)),
        (404, #"{"error":"gone"}"#, .missing(status: 404, text: "gone")),
        (410, "", .missing(status: 410)),
        (409, #"{"error":"exists"}"#, .conflict(status: 409, nil, text: "exists")),
        (400, #"{"error":"bad"}"#, .rejected(status: 400, text: "bad")),
        (403, #"{"message":"no"}"#, .rejected(status: 403, text: "no")),
        (500, #"{"error":"oops"}"#, .failed(status: 500, text: "oops")),
        (408, "", .failed(status: 408, text: "")),
        (503, "busy", .unavailable(status: 503, retryAfter: nil)),
        (407, "", .unavailable(status: 407, retryAfter: nil)),
        (421, "<html>", .unavailable(status: 421, retryAfter: nil)),
        (425, "", .unavailable(status: 425, retryAfter: nil)),
        (511, "", .unusable(status: 511, .html)),
        (522, "", .failed(status: 522, text: "")),
        (302, "", .unusable(status: 302, .redirect)),
        (200, "[", .unusable(status: 200, .notJSON)),
        (200, "7", .unusable(status: 200, .unexpectedShape)),
    ])
    func `each status and body give one answer`(status: Int, body: String, expected: RemoteAnswer) {
        #expect(reader.write(response(status, body)) == expected)
    }

    @Test(arguments: [200, 403, 404, 409])
    func `an HTML page is never a verdict`(status: Int) {
        let page = "<!DOCTYPE html><html><body>Sign in</body></html>"
        for type in ["text/html; charset=utf-8", "application/json"] {
            let answer = reader.write(response(status, page, type: type))
            #expect(answer == .unusable(status: status, .html))
        }
    }

    enum Body: CaseIterable, Sendable {
        case json, sentence, indentedPage, page, long, longJSON, none

        var text: String {
            switch self {
            case .json: #"{"error":"only the owner may do this"}"#
            case .sentence: "only the owner may do this"
            case .indentedPage: " \r\n\t<p>Blocked</p>"
            case .page: "<!DOCTYPE html><html><body>Blocked</body></html>"
            case .long: String(repeating: "blocked ", count: SyncLimits.refusalTextBytes / 8 + 1)
            case .longJSON:
                #"{"error":"no","trace":""#
                    + String(repeating: "x", count: SyncLimits.refusalTextBytes) + #""}"#
            case .none: ""
            }
        }

        /// What a verdict quotes.
        var sentence: String {
            switch self {
            case .json, .sentence: "only the owner may do this"
            case .indentedPage, .page: "a page for people, not an answer of /tables"
            case .long: String(text.prefix(SyncLimits.quotedAnswerCharacters))
            case .longJSON: "no"
            case .none: ""
            }
        }

        var mayBeOfAnyServer: Bool { [.indentedPage, .page, .long].contains(self) }
    }

    @Test(arguments: [400, 403, 404, 405, 409, 410, 412, 413, 422], Body.allCases)
    func
        `a refusal is a verdict in any content type, and a page only of a server that states its version`(
            status: Int, body: Body
        )
    {
        for type in ["text/html; charset=utf-8", "text/plain", "application/json", nil] {
            for version in [nil, "node-3.0.0"] {
                var fields = HTTPFields()
                if let version { fields.set("x-zumo-server-version", version) }
                let answer = response(status, body.text, type: type, fields: fields)
                let expected: RemoteAnswer =
                    if version == nil, body.mayBeOfAnyServer {
                        .unusable(status: status, .html)
                    } else {
                        switch status {
                        case 404, 410: .missing(status: status, text: body.sentence)
                        case 409, 412: .conflict(status: status, nil, text: body.sentence)
                        default: .rejected(status: status, text: body.sentence)
                        }
                    }
                #expect(reader.write(answer) == expected)
                #expect(reader.list(answer, of: "/tables/t") == expected)
                #expect(answer.isPage == (version == nil && body.mayBeOfAnyServer))
                let end = AttemptEnd(
                    status: status, response: body.text, fields: RecordedFields.lines(fields))
                #expect(end.isRefusal == (!answer.isPage && [404, 409, 410, 412].contains(status)))
                #expect(
                    end.sentence
                        == "The backend answered \(status)\(Verdict.detail(body.sentence))")
                let isHTML = body == .page || body == .indentedPage
                #expect(
                    expected.isAbsence
                        == ([404, 410].contains(status) && !isHTML && !answer.isPage))
            }
        }
    }

    @Test func `a quota is no verdict in any content type, and a 401 always asks to sign in`() {
        for body in Body.allCases {
            for type in ["text/html", "text/plain"] {
                let quota = response(403, body.text, type: type, fields: [.retryAfter: "7"])
                #expect(
                    reader.write(quota) == .unavailable(status: 403, retryAfter: .seconds(7)))
                #expect(reader.write(response(401, body.text, type: type)) == .unauthorized)
            }
        }
    }

    @Test(arguments: [
        ("120", Duration.seconds(120)), (" 0 ", .zero), ("-5", .zero), ("soon", nil),
        ("Tue, 14 Nov 2023 22:14:20 GMT", .seconds(60)), ("Tue, 14 Nov 2023 22:00:00 GMT", .zero),
        ("999999999", .seconds(86_400)),
    ])
    func `Retry-After is read in both forms`(field: String, expected: Duration?) {
        #expect(RetryAfter.parse(field, now: reader.now) == expected)
    }

    @Test(arguments: [
        (#"[{"id":"a"},{"id":"b"}]"#, 2, false, false), ("[]", 0, false, false),
        (#"{"results":[{"id":"a"}],"count":7}"#, 1, false, false),
        (#"{"items":[{"id":"a"}],"count":null,"nextLink":"$skip=1"}"#, 1, true, true),
        (#"{"items":[],"count":0,"nextLink":null}"#, 0, false, true),
    ])
    func `a list comes in three envelopes`(
        body: String, count: Int, hasNext: Bool, isDatasync: Bool
    ) throws {
        guard case .rows(let page) = reader.list(response(200, body), of: "/tables/t") else {
            throw World.Failure("no list")
        }
        #expect(page.rows.count == count)
        #expect(page.hasNext == hasNext)
        #expect(page.isDatasync == isDatasync)
    }

    @Test func `a row without an id makes the list invalid`() {
        let answer = reader.list(response(200, #"[{"text":"x"}]"#), of: "/tables/t")
        #expect(answer == .unusable(status: 200, .unexpectedShape))
    }

    @Test func `a link header names a next page`() throws {
        var fields = HTTPFields()
        fields.set("Link", "https://host/tables/t?$skip=50; rel=next")
        guard
            case .rows(let page) = reader.list(response(200, "[]", fields: fields), of: "/tables/t")
        else {
            throw World.Failure("no list")
        }
        #expect(page.hasNext)
    }
}
