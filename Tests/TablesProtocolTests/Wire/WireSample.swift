import HTTPMessage
import HTTPTypes

@testable import TablesProtocol

/// Requests and items for tests of the wire form.
enum WireSample {
    static let created = Instant(milliseconds: 1_393_660_800_120)
    static let updated = Instant(milliseconds: 1_393_747_200_000)

    /// A request as an SDK sends it, to `http://localhost:8080`.
    static func request(
        _ method: HTTPRequest.Method = .get, _ target: String, _ fields: [String: String] = [:],
        body: String = ""
    ) -> Request {
        var head = HTTPRequest(
            method: method, scheme: "http", authority: "localhost:8080", path: target)
        for (name, value) in fields {
            if let name = HTTPField.Name(name) { head.headerFields[name] = value }
        }
        return Request(head: head, body: Array(body.utf8))
    }

    /// The call of a request; of the second generation unless its fields show another.
    static func call(
        _ method: HTTPRequest.Method = .get, _ target: String,
        _ fields: [String: String] = mobileApps, body: String = ""
    ) throws -> TableCall {
        try TableCall.parse(
            request(method, target, fields, body: body), defaultGeneration: .mobileApps)
    }

    static let mobileServices = ["X-ZUMO-APPLICATION": "key"]
    static let mobileApps = ["ZUMO-API-VERSION": "2.0.0", "X-ZUMO-VERSION": "ZUMO/4.2"]
    static let datasync = [
        "ZUMO-API-VERSION": "3.0.0", "X-ZUMO-VERSION": "Datasync/6.0",
        "X-ZUMO-Options": "nextLink=path",
    ]
    static let toolkit = ["ZUMO-API-VERSION": "3.0.0", "User-Agent": "Datasync/8.0"]

    /// The fields that an SDK of the family sends.
    static func fields(_ client: ClientFamily) -> [String: String] {
        switch client {
        case .mobileServices: mobileServices
        case .mobileApps: mobileApps
        case .datasync: datasync
        case .toolkit: toolkit
        }
    }

    /// A todo item.
    static func item(_ id: String = "a1", deleted: Bool = false) throws -> Item {
        Item(
            id: try ItemID(id), columns: Columns(stored: "{\"text\":\"x\",\"n\":1.10}"),
            createdAt: created, updatedAt: updated, version: "AAAAAAAAB9I=", deleted: deleted)
    }

    /// A response as text: status line, fields by lower case name, empty line, body.
    static func text(_ response: Response) -> String {
        let fields = response.head.headerFields.map {
            "\($0.name.canonicalName): \($0.value)"
        }
        let head = ["\(response.head.status.code)"] + fields.sorted()
        return head.joined(separator: "\n") + "\n\n"
            + String(decoding: response.bytes ?? [], as: UTF8.self)
    }
}
