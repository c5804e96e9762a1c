import HTTPMessage
import HTTPTypes
import Testing

@testable import TablesProtocol

/// Complete responses with single items, byte for byte.
@Suite struct AnswerItemTests {
    private func answer(
        _ method: HTTPRequest.Method = .get, _ target: String, _ fields: [String: String],
        body: String = "{}"
    ) throws -> TablesAnswer {
        TablesAnswer(to: try WireSample.call(method, target, fields, body: body))
    }

    @Test func `first generation: plain rows without system properties or tag`() throws {
        let answer = try answer(.get, "/tables/TodoItem/a1", WireSample.mobileServices)
        #expect(
            WireSample.text(answer.render(item: try WireSample.item())) == """
                200
                cache-control: no-cache
                content-type: application/json
                x-zumo-server-version: understudy

                {"id":"a1","text":"x","n":1.10}
                """)
    }

    @Test func `first generation: requested system properties, with an ETag`() throws {
        let answer = try answer(
            .get, "/tables/TodoItem/a1?__systemproperties=__version,__deleted",
            WireSample.mobileServices)
        #expect(
            WireSample.text(answer.render(item: try WireSample.item())) == """
                200
                cache-control: no-cache
                content-type: application/json
                etag: "AAAAAAAAB9I="
                x-zumo-server-version: understudy

                {"id":"a1","text":"x","n":1.10,"__version":"AAAAAAAAB9I=","__deleted":false}
                """)
    }

    @Test func `first generation: an integer id is a number`() throws {
        let answer = try answer(.get, "/tables/TodoItem/7", WireSample.mobileServices)
        var item = try WireSample.item()
        item.id = ItemID(7)
        #expect(
            answer.render(item: item).bytes == Array("{\"id\":7,\"text\":\"x\",\"n\":1.10}".utf8))
    }

    @Test func `second generation: the complete row`() throws {
        let answer = try answer(.patch, "/tables/todoitem/a1", WireSample.mobileApps)
        #expect(
            WireSample.text(answer.render(item: try WireSample.item())) == """
                200
                cache-control: no-cache
                content-type: application/json; charset=utf-8
                etag: "AAAAAAAAB9I="
                expires: 0
                pragma: no-cache
                x-zumo-server-version: understudy

                {"id":"a1","text":"x","n":1.10,"createdAt":"2014-03-01T08:00:00.120Z",\
                "updatedAt":"2014-03-02T08:00:00.000Z","version":"AAAAAAAAB9I=","deleted":false}
                """)
    }

    @Test(arguments: [ClientFamily.datasync, .toolkit])
    func `third generation: Last-Modified and no createdAt`(client: ClientFamily) throws {
        let answer = try answer(.put, "/tables/todoitem/a1", WireSample.fields(client))
        #expect(
            WireSample.text(answer.render(item: try WireSample.item())) == """
                200
                cache-control: no-cache
                content-type: application/json; charset=utf-8
                etag: "AAAAAAAAB9I="
                last-modified: Sun, 02 Mar 2014 08:00:00 GMT

                {"id":"a1","text":"x","n":1.10,"updatedAt":"2014-03-02T08:00:00.000Z",\
                "version":"AAAAAAAAB9I=","deleted":false}
                """)
    }

    @Test(arguments: [
        ("/tables/t", "a1", "http://localhost:8080/tables/t/a1"),
        ("/tables/t/?x=1", "it's a % id", "http://localhost:8080/tables/t/it%27s%20a%20%25%20id"),
        ("/tables/%74", "é", "http://localhost:8080/tables/%74/%C3%A9"),
    ])
    func `an insert has the item's Location`(target: String, id: String, location: String) throws {
        for client in ClientFamily.allCases {
            let answer = try answer(.post, target, WireSample.fields(client))
            let response = answer.render(inserted: try WireSample.item(id))
            #expect(response.head.status == .created)
            #expect(response.head.headerFields[.location] == location)
            #expect((response.head.headerFields[.eTag] == nil) == (client == .mobileServices))
            #expect(response.bytes?.isEmpty == false)
        }
    }

    @Test(arguments: [
        (ClientFamily.mobileServices, 200), (.mobileApps, 201), (.datasync, 200), (.toolkit, 200),
    ])
    func `an undelete has a body and the generation's status`(
        client: ClientFamily, status: Int
    ) throws {
        let method: HTTPRequest.Method = client.generation == .datasync ? .patch : .post
        let answer = try answer(
            method, "/tables/t/a1", WireSample.fields(client), body: "{\"deleted\":false}")
        let response = answer.render(undeleted: try WireSample.item())
        #expect(response.head.status.code == status)
        #expect(response.bytes?.first == UInt8(ascii: "{"))
    }

    @Test(arguments: ClientFamily.allCases)
    func `a deletion has no body, ETag or content type`(client: ClientFamily) throws {
        let response = try answer(.delete, "/tables/t/a1", WireSample.fields(client))
            .render(deleted: nil)
        #expect(response.head.status == .noContent)
        #expect(response.bytes == [])
        #expect(response.head.headerFields[.eTag] == nil)
        #expect(response.head.headerFields[.contentType] == nil)
    }

    @Test(arguments: [
        (ClientFamily.mobileServices, "", 200), (.mobileServices, "?__systemproperties=*", 304),
        (.mobileApps, "", 200), (.datasync, "", 304), (.toolkit, "", 304),
    ])
    func `a read of a known version is answered as real servers do`(
        client: ClientFamily, query: String, status: Int
    ) throws {
        for tag in ["\"AAAAAAAAB9I=\"", "*", "W/\"x\", \"AAAAAAAAB9I=\""] {
            let fields = WireSample.fields(client).merging(["If-None-Match": tag]) { $1 }
            let response = try answer(.get, "/tables/t/a1\(query)", fields)
                .render(item: WireSample.item())
            #expect(response.head.status.code == status)
            #expect(response.bytes?.isEmpty == (status == 304))
            let isThird = client.generation == .datasync
            #expect(
                response.head.headerFields[.lastModified]
                    == (isThird ? WireSample.updated.httpDate : nil))
        }
        let other = WireSample.fields(client).merging(["If-None-Match": "\"x\""]) { $1 }
        let response = try answer(.get, "/tables/t/a1\(query)", other)
            .render(item: WireSample.item())
        #expect(response.head.status == .ok)
    }

    @Test(arguments: [
        ("id", "{\"id\":\"a1\"}"), ("n,id", "{\"n\":1.10,\"id\":\"a1\"}"),
        ("nope,TEXT", "{\"nope\":null,\"TEXT\":\"x\"}"),
        ("TEXT,n,text", "{\"TEXT\":\"x\",\"n\":1.10}"),
        (
            "updatedAt,deleted,createdAt",
            "{\"updatedAt\":\"2014-03-02T08:00:00.000Z\",\"deleted\":false,"
                + "\"createdAt\":\"2014-03-01T08:00:00.120Z\"}"
        ),
        ("version", "{\"version\":\"AAAAAAAAB9I=\"}"), ("*", nil), ("", nil),
    ])
    func `a select shows its columns in their order`(select: String, body: String?) throws {
        let response = try answer(
            .get, "/tables/t/a1?$select=\(select)", WireSample.mobileApps
        ).render(item: WireSample.item())
        guard let body else {
            #expect(String(decoding: response.bytes ?? [], as: UTF8.self).contains("version"))
            return
        }
        #expect(String(decoding: response.bytes ?? [], as: UTF8.self) == body)
        #expect((response.head.headerFields[.eTag] != nil) == (select == "version"))
    }

    @Test func `Last-Modified without createdAt is the time of the change`() throws {
        var item = try WireSample.item()
        item.createdAt = nil
        item.columns = Columns()
        let response = try answer(.get, "/tables/t/a1", WireSample.mobileApps).render(item: item)
        #expect(
            String(decoding: response.bytes ?? [], as: UTF8.self)
                == "{\"id\":\"a1\",\"createdAt\":\"2014-03-02T08:00:00.000Z\","
                + "\"updatedAt\":\"2014-03-02T08:00:00.000Z\",\"version\":\"AAAAAAAAB9I=\","
                + "\"deleted\":false}")
    }
}
