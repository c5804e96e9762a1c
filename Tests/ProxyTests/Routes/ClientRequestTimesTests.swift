import HTTPMessage
import HTTPTypes
import SyncCore
import Testing

@testable import Proxy

struct ClientRequestTimesTests {
    private let times = ClientRequestTimes()

    private func note(_ method: String, _ path: String, _ status: Int?, _ milliseconds: Int = 3) {
        guard let method = HTTPRequest.Method(method) else { return }
        times.note(
            AddressedRequest(
                Request(
                    head: HTTPRequest(method: method, scheme: "http", authority: "a", path: path))),
            status: status, took: .milliseconds(milliseconds))
    }

    private func counted() -> [String] {
        times.all.map { one in
            "\(one.series.table) \(one.series.verb) \(one.series.status ?? 0): \(one.histogram.count)"
        }
    }

    @Test func `requests are counted by table, verb and status`() {
        note("GET", "/tables/Todo?$top=1", 200)
        note("GET", "/tables/todo/a%20b", 404)
        note("HEAD", "/tables/todo", 200)
        note("POST", "/tables/todo", 201)
        note("POST", "/c/\(String(repeating: "s", count: 43))/tables/todo/a", 200)
        note("PATCH", "/tables/todo/a", 412)
        note("PUT", "/tables/todo/a", 200)
        note("DELETE", "/tables/todo/a", 204)
        note("DELETE", "/tables/todo/a", nil)
        note("OPTIONS", "/tables/todo", 200)
        note("GET", "/-/metrics", 200)
        note("GET", "/api/todo", 200)
        #expect(
            counted() == [
                "Todo delete 0: 1", "Todo delete 204: 1", "Todo get 404: 1", "Todo insert 201: 1",
                "Todo list 200: 2", "Todo options 200: 1", "Todo replace 200: 1",
                "Todo undelete 200: 1", "Todo update 412: 1",
            ])
    }

    @Test
    func `the names of tables that were never found are not labels, and the labels have a bound`() {
        for number in 0..<500 { note("GET", "/tables/guess\(number)", 404) }
        note("GET", "/tables/a/b/c", 404)
        note("GET", "/tables/%zz", 400)
        #expect(counted() == ["other list 400: 1", "other list 404: 500"])
        for number in 0..<500 { note("GET", "/tables/real\(number)", 200) }
        #expect(Set(times.all.map(\.series.table)).count == Limits.measuredTables + 1)
        #expect(counted().contains("other list 200: \(500 - Limits.measuredTables)"))
    }

    @Test func `durations fall into the bucket whose bound they do not exceed`() {
        for milliseconds in [0, 1, 2, 5, 6, 10_000, 10_001] {
            note("GET", "/tables/t", 200, milliseconds)
        }
        #expect(times.all.first?.histogram.counts == [2, 2, 1, 0, 0, 0, 1, 1])
        #expect(times.all.first?.histogram.sum == .milliseconds(20_015))
    }
}
