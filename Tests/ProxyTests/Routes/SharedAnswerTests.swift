import HTTPMessage
import HTTPTypes
import TestSupport
import Testing

@testable import Proxy

/// Answers of the backend to pages of a listed origin.
struct SharedAnswerTests {
    @Test func `the backend's lists of field names are kept`() async throws {
        try await TestApp.run { test in
            test.transport.decide { _, _ in
                var response = Response(
                    status: .ok,
                    headerFields: [
                        .contentType: "text/plain", .vary: "Accept-Encoding",
                        .accessControlExposeHeaders: "X-Total", .accessControlAllowOrigin: "*",
                    ], body: Array("x".utf8))
                if let total = HTTPField.Name("X-Total") { response.head.headerFields[total] = "7" }
                return .instead(response)
            }
            let told = await test.send(.make("GET", "/api/x", ["Origin": "http://app.example"]))
            let fields = told.head.headerFields
            #expect(told.head.status == .ok)
            #expect(fields[.vary] == "Accept-Encoding, Origin")
            #expect(
                fields[.accessControlExposeHeaders]?.hasPrefix("X-Total, Link, Location, ETag, ")
                    == true)
            #expect(fields[.accessControlAllowOrigin] == "http://app.example")
            // Without an origin the answer is as it came.
            let plain = await test.send(.make("GET", "/api/x"))
            #expect(plain.head.headerFields[.vary] == "Accept-Encoding")
            #expect(plain.head.headerFields[.accessControlExposeHeaders] == "X-Total")
        }
    }
}
