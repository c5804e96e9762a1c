import Backend
import HTTPMessage
import HTTPTypes
import SyncCore
import TablesProtocol
import Testing

@testable import Proxy

/// What a backend of another generation refuses: its client learns the reason.
@Suite struct PassedRefusalTests {
    @Test(arguments: [BackendFlavour.datasync, .dotnet])
    func `a client of another generation gets the backend's sentence`(
        flavour: BackendFlavour
    ) async throws {
        let backend = BackendOptions(flavour: flavour)
        try await TestApp.run(tables: ["todoitem"], backend: backend) { test in
            _ = test.elsewhere("POST", "todoitem", #"{"id":"a","text":"x"}"#)
            #expect(await test.graph.tenants.anonymous.engine.sync().state == .complete)
            let version = flavour == .datasync ? "2.0.0" : "3.0.0"
            let told = await test.send(
                .make(
                    "GET", "/tables/todoitem?own=1&$filter=nosuch%20eq%201",
                    ["ZUMO-API-VERSION": version]))
            #expect(told.head.status == .badRequest)
            let body = try JSONValue(parsing: told.bytes ?? [])
            #expect(
                body["error"]?.string
                    == "Table todoitem cannot be listed (400). The backend says: "
                    + "Could not find a property named 'nosuch'.")
        }
    }
}
