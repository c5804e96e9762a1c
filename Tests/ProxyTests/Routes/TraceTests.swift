import HTTPMessage
import HTTPTypes
import SyncCore
import Testing

@testable import Proxy

struct TraceTests {
    @Test func `a state of a trace is kept beside a valid parent, its first members whole`() {
        func state(_ parent: String, _ states: String...) -> String? {
            var fields: HTTPFields = [.traceparent: parent]
            for state in states { fields.append(HTTPField(name: .tracestate, value: state)) }
            return Trace(fields)?.state
        }
        let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
        #expect(state(parent, "a=1,b@c=2") == "a=1,b@c=2")
        #expect(state(parent, "a=1", "b=2") == "a=1, b=2")
        #expect(state(parent) == nil)
        #expect(state("00-1-2-01", "a=1") == nil)
        #expect(Trace([.tracestate: "a=1"]) == nil)
        let member = "a=" + String(repeating: "x", count: 168)
        #expect(state(parent, "\(member),\(member),\(member)") == "\(member),\(member),\(member)")
        #expect(state(parent, "\(member),\(member),\(member)x") == "\(member),\(member)")
        #expect(state(parent, String(repeating: "x", count: 513)) == nil)
    }
}
