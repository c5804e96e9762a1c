import Foundation
import HTTPMessage
import HTTPTypes
import SyncCore
import TablesProtocol
import Testing

@testable import Proxy

/// Captured requests of the SDKs to the proxy. Each answer is compared byte for byte: status, header
/// fields, body. Values that differ in each run are `{version}`, `{id}`, `{date}`.
@Suite struct CaptureTests {
    @Test(arguments: ["mobile-services", "mobile-apps", "datasync"])
    func `each answer of a conversation is the one that its SDK reads`(name: String) async throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Captures")
        let text = try String(
            contentsOf: folder.appendingPathComponent("\(name).txt"), encoding: .utf8)
        try await TestApp.run(tables: ["todoitem", "many"]) { test in
            // One more than two pages of 50 and one of 100.
            for number in 1000...1104 {
                _ = test.elsewhere("POST", "many", "{\"id\":\"n\(number)\"}")
            }
            _ = await test.graph.tenants.tenant(Identity.anonymousKey)?.engine.sync()
            var known: [String: String] = [:]
            for exchange in text.split(separator: "### ").map({ "### \($0)" }) {
                let parts = exchange.components(separatedBy: "\n---> ")
                let lines = Self.filled(parts[0], known)
                let told = await test.send(try Self.request(lines))
                let answer = Self.masked(told, &known)
                #expect(
                    "---> \(answer)" == "---> \(parts.count > 1 ? parts[1] : "")", "\(parts[0])")
            }
        }
    }

    /// A request from its lines: title, method and target, fields, an empty line, body.
    private static func request(_ text: String) throws -> Request {
        let halves = text.components(separatedBy: "\n\n")
        let lines = halves[0].split(separator: "\n")
        let words = lines[1].split(separator: " ", maxSplits: 1).map(String.init)
        let fields = lines[2...].map { line in
            let parts = line.split(separator: ":", maxSplits: 1)
            return (String(parts[0]), String(parts[1].drop { $0 == " " }))
        }
        let body = halves.dropFirst().joined(separator: "\n\n")
        return Call(
            method: words[0], target: words[1], fields: fields.filter { $0.0 != "Host" },
            body: body.trimmingCharacters(in: .newlines)
        ).request(to: "127.0.0.1:8080")
    }

    private static func filled(_ text: String, _ known: [String: String]) -> String {
        known.reduce(text) { $0.replacingOccurrences(of: "{\($1.key)}", with: $1.value) }
    }

    /// The answer as text, with names in the place of values that differ in each run.
    private static func masked(_ response: Response, _ known: inout [String: String]) -> String {
        let head = response.head
        let fields = head.headerFields.map { "\($0.name.rawName): \($0.value)" }.sorted()
        var text = ([String(head.status.code)] + fields).joined(separator: "\n") + "\n\n"
        text += String(decoding: response.bytes ?? [], as: UTF8.self)
        if let match = text.firstMatch(of: /"(?:__)?version":"([^"]+)"/) {
            known["version"] = String(match.1)
            text = text.replacingOccurrences(of: String(match.1), with: "{version}")
            text.replace(/version":"[^"]+"/, with: "version\":\"{version}\"")
        }
        if let match = text.firstMatch(of: /"id":"([0-9A-F]{8}-[0-9A-F-]{27})"/) {
            known["id"] = String(match.1)
            text = text.replacingOccurrences(of: String(match.1), with: "{id}")
        }
        text.replace(/20[2-9]\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/, with: "{date}")
        text.replace(/Last-Modified: [A-Z][^\n]+ GMT/, with: "Last-Modified: {date}")
        text.replace(/Understudy-Backend: (online|offline)/, with: "Understudy-Backend: {state}")
        text.replace(/Age: \d+/, with: "Age: {age}")
        return text + "\n"
    }
}
