import Proxy
import Testing

@testable import Program
@testable import understudy

struct RunningStateTests {
    @Test func `doctor reaches the backend as the Understudy that runs does`() {
        var state = RunningState()
        state.settings = [
            "backend": ["https://b"], "backend-ca": ["/etc/ca.pem"], "backend-cert": ["cert.pem"],
            "backend-generation": ["3"], "backend-proxy": ["http://(kept secret)@p:1"],
            "listen": ["127.0.0.1:1"], "table": ["a", "b"],
        ]
        let sources = Sources(flags: ["table": ["c"]], environment: { _ in nil })
        #expect(
            state.flags(missingIn: sources) == [
                "backend": ["https://b"], "backend-ca": ["/etc/ca.pem"],
                "backend-generation": ["3"],
            ])
        state.settings = ["backend-proxy": ["http://p:1"]]
        #expect(state.flags(missingIn: sources) == ["backend-proxy": ["http://p:1"]])
    }
}
