import HTTPMessage
import HTTPTypes
import Testing

@testable import TablesProtocol

/// Error responses in the form of each SDK.
@Suite struct AnswerErrorTests {
    private static let id = ItemID(7)

    /// Statuses of the first and second generation, which agree, and of the third.
    @Test(arguments: [
        (TablesError.notAnObject, 400, 400), (.badRequest("x"), 400, 400),
        (.invalidID(.dots), 400, 400),
        (.malformedJSON(JSONError(.unexpectedEnd, at: 0)), 400, 400), (.idMismatch, 400, 400),
        (.badQuery(ODataError(option: "$filter", reason: "x", position: 3)), 400, 400),
        (.unknownSystemProperty("x"), 400, 400), (.reservedProperty("__x"), 400, 400),
        (.unsupportedVersion, 400, 400), (.methodOverride, 400, 400),
        (.invalidIfMatch("x"), 400, 400),
        (.unsupportedContentType, 415, 415), (.bodyTooLarge(limitBytes: 1), 413, 413),
        (.methodNotAllowed(allow: ["GET", "POST"]), 405, 405), (.unknownTable("t"), 404, 404),
        (.notFound(id), 404, 404), (.gone(id), 404, 410), (.conflict(nil), 409, 409),
        (.offline(retryAfterSeconds: 5), 503, 503), (.unauthorized(), 401, 401),
        (.forbidden("x"), 403, 403), (.storageFull(byBudget: false), 507, 507),
        (.storageFull(byBudget: true), 507, 507), (.failed("x"), 500, 500),
        (.unavailable("x", retryAfterSeconds: 5), 503, 503),
        (.refusedByBackend(status: 409, "x"), 409, 409),
    ])
    func `has a status and a body that the SDK can read`(
        error: TablesError, status: Int, third: Int
    ) throws {
        for client in ClientFamily.allCases {
            let response = TablesAnswer(client: client).render(error: error)
            #expect(response.head.status.code == (client.generation == .datasync ? third : status))
            #expect(response.head.headerFields[.eTag] == nil)
            let bytes = try #require(response.bytes)
            if response.head.status.code == 409, client == .toolkit {
                #expect(bytes.isEmpty && response.head.headerFields[.contentType] == nil)
                continue
            }
            let body = try JSONValue(parsing: bytes)
            #expect(body["error"]?.string?.isEmpty == false)
            #expect(body["code"]?.integer == (client == .mobileServices ? Int64(status) : nil))
            let waits = [503].contains(response.head.status.code)
            #expect(response.head.headerFields[.retryAfter] == (waits ? "5" : nil))
            #expect((response.head.headerFields[.allow] == "GET, POST") == (status == 405))
        }
    }

    @Test(arguments: [
        (
            ClientFamily.mobileServices,
            "{\"code\":404,\"error\":\"Error: An item with id '7' does not exist.\"}"
        ),
        (.mobileApps, "{\"error\":\"The item does not exist\"}"),
        (.datasync, "{\"error\":\"The item does not exist\"}"),
    ])
    func `has the message of the real servers`(client: ClientFamily, body: String) {
        let response = TablesAnswer(client: client).render(error: .notFound(Self.id))
        #expect(String(decoding: response.bytes ?? [], as: UTF8.self) == body)
    }

    @Test func `an invalid filter is reported with its position`() {
        let error = ODataError(option: "$filter", reason: "Unknown identifier 'x'", position: 4)
        let response = TablesAnswer(client: .mobileServices).render(error: .badQuery(error))
        #expect(
            String(decoding: response.bytes ?? [], as: UTF8.self)
                == "{\"code\":400,\"error\":\"Error: Invalid query specified. "
                + "Error: Unknown identifier 'x' (at index 4)\"}")
    }

    @Test(arguments: [
        (ClientFamily.mobileServices, ["412", "409 error"]),
        (.mobileApps, ["412", "409"]),
        (.datasync, ["412", "409"]), (.toolkit, ["412", "409"]),
    ])
    func `a conflict contains the complete item with its ETag`(
        client: ClientFamily, words: [String]
    )
        throws
    {
        let item = try WireSample.item()
        let errors: [TablesError] = [.preconditionFailed(item), .conflict(item)]
        for (error, word) in zip(errors, words) {
            // `$select` does not hide columns of the conflicting item.
            let call = try WireSample.call(
                .patch, "/tables/t/a1", WireSample.fields(client), body: "{\"id\":\"a1\"}")
            let response = TablesAnswer(to: call).render(error: error)
            let body = try JSONValue(parsing: response.bytes ?? [])
            #expect("\(response.head.status.code)" == word.prefix(3))
            if word.hasSuffix("error") {
                #expect(body["error"] != nil && response.head.headerFields[.eTag] == nil)
                continue
            }
            #expect(response.head.headerFields[.eTag] == "\"AAAAAAAAB9I=\"")
            #expect(
                (response.head.headerFields[.lastModified] != nil)
                    == (client.generation == .datasync))
            #expect(body["id"]?.string == "a1")
            for property in SystemProperty.allCases {
                guard let name = property.name(in: client.generation) else { continue }
                #expect(body[name] != nil)
            }
        }
    }

    @Test func `first generation: the stale update of the protocol's example`() throws {
        let call = try WireSample.call(
            .patch, "/tables/TodoItem/a1",
            ["X-ZUMO-APPLICATION": "k", "If-Match": "\"AAAAAAAAB9E=\""],
            body: "{\"complete\":true}")
        #expect(call.conditions.ifMatch == .versions(["AAAAAAAAB9E="]))
        let response = TablesAnswer(to: call).render(
            error: .preconditionFailed(try WireSample.item()))
        #expect(
            WireSample.text(response) == """
                412
                cache-control: no-cache
                content-type: application/json
                etag: "AAAAAAAAB9I="
                x-zumo-server-version: understudy

                {"id":"a1","text":"x","n":1.10,"__createdAt":"2014-03-01T08:00:00.120Z",\
                "__updatedAt":"2014-03-02T08:00:00.000Z","__version":"AAAAAAAAB9I=","__deleted":false}
                """)
    }
}
