import HTTPMessage
import HTTPTypes
import TestSupport
import Testing

@testable import Proxy

/// Reads whose like was let through before, with the same fields on the same connection.
struct KnownReadTests {
    private static let fields: KeyValuePairs = ["ZUMO-API-VERSION": "2.0.0"]

    private func ask(
        _ target: String, _ fields: KeyValuePairs<String, String> = fields, memo: FieldsMemo?,
        _ test: TestHouse
    ) async -> Response {
        var request = Request.make("GET", target, fields)
        request.memo = memo
        return await test.send(request)
    }

    private func withItems(_ body: (TestHouse) async throws -> Void) async throws {
        try await TestHouse.run { test in
            for id in ["a", "b"] {
                let made = await test.table("POST", "todoitem", #"{"id":"\#(id)","text":"one"}"#)
                #expect(made.status == 201)
            }
            try await body(test)
        }
    }

    @Test(arguments: [
        "/tables/todoitem/a", "/tables/todoitem/b", "/tables/TodoItem/a", "/tables/todoitem/none",
        "/tables/nothing/a", "/tables/todoitem/a?$select=text", "/tables/todoitem/%61",
        "/tables/todoitem", "/tables/todoitem?$filter=text%20eq%20'one'&$top=1",
        "/tables/todoitem?$filter=text%20eq", "/tables/todoitem/a/", "/tables/1/a",
        "/tables/todoitem/a%2Fb", "/tables/todoitem/..", "/tables//a", "/Tables/todoitem/a",
        "/-/api/v1/status", "/c/secret/tables/todoitem/a", "/tables/todoitem/a%00",
    ])
    func `a read is answered as the first of its connection`(target: String) async throws {
        try await withItems { test in
            let first = await ask(target, memo: nil, test)
            let memo = FieldsMemo()
            for known in ["/tables/todoitem/b", "/tables/todoitem?$top=1", target, target] {
                _ = await ask(known, memo: memo, test)
            }
            let later = await ask(target, memo: memo, test)
            #expect(later.head.status == first.head.status)
            #expect(later.bytes == first.bytes)
            var (ours, theirs) = (later.head.headerFields, first.head.headerFields)
            // A second may have gone by.
            ours[.age] = nil
            theirs[.age] = nil
            #expect(Array(ours) == Array(theirs))
        }
    }

    @Test func `a known read shows what was written meanwhile`() async throws {
        try await withItems { test in
            let memo = FieldsMemo()
            for text in ["two", "three"] {
                _ = await ask("/tables/todoitem/a", memo: memo, test)
                _ = await test.table("PATCH", "todoitem/a", #"{"text":"\#(text)"}"#)
                let answer = await ask("/tables/todoitem/a", memo: memo, test)
                #expect(String(decoding: answer.bytes ?? [], as: UTF8.self).contains(text))
            }
        }
    }

    @Test func `what was let through is judged by the new rules after a reload`() async throws {
        try await withItems { test in
            let memo = FieldsMemo()
            for _ in 0..<2 {
                #expect(await ask("/tables/todoitem/a", memo: memo, test).head.status == .ok)
            }
            let held = test.house.routes.gate.held
            var rules = held.now
            rules.tablesAccess = .capability
            held.replace(with: rules)
            let answer = await ask("/tables/todoitem/a", memo: memo, test)
            #expect(answer.head.status == .unauthorized)
        }
    }

    @Test func `nothing is kept of a read that was refused`() async throws {
        try await withItems { test in
            let memo = FieldsMemo()
            let foreign: KeyValuePairs = ["Origin": "http://evil.example"]
            for _ in 0..<2 {
                let answer = await ask("/tables/todoitem/a", foreign, memo: memo, test)
                #expect(answer.head.status == .forbidden)
            }
            #expect(memo.value(KnownReads.self) == nil)
        }
    }

    @Test(arguments: [
        ["Understudy-Session": "x"], ["X-ZUMO-APPLICATION": "key"],
        ["Origin": "http://app.example"],
    ])
    func `nothing is kept where the verdict or the answer hangs on more`(
        fields: [String: String]
    ) async throws {
        try await withItems { test in
            let memo = FieldsMemo()
            var request = Request.make("GET", "/tables/todoitem/a")
            for (name, value) in fields {
                request.head.headerFields[try #require(HTTPField.Name(name))] = value
            }
            request.memo = memo
            #expect(await test.send(request).head.status == .ok)
            #expect(memo.value(KnownReads.self) == nil)
        }
    }

    @Test func `at capability addresses nothing is kept`() async throws {
        try await TestHouse.run(flags: ["tables-access": ["capability"]]) { test in
            let memo = FieldsMemo()
            for _ in 0..<2 {
                let answer = await ask("/tables/todoitem/a", memo: memo, test)
                #expect(answer.head.status == .unauthorized)
            }
            #expect(memo.value(KnownReads.self) == nil)
        }
    }
}
