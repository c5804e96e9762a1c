import TablesProtocol
import Testing

@testable import Backend

/// U+0000, which a JSON text may hold and a text in PostgreSQL may not.
@Suite struct ZeroCharacterTests {
    @Test(arguments: StorageUnderTest.all, [BackendFlavour.mobileServices, .mobileApps, .node])
    func `no id and no user has it, on any storage`(
        kind: StorageUnderTest, flavour: BackendFlavour
    ) throws {
        let client = try Client(on: kind.open(), BackendOptions(flavour: flavour))
        let inserted = try client.send("POST", "/tables/todos", #"{"id":"a\u0000b"}"#)
        #expect(inserted.status == 400, "\(inserted.text)")
        #expect(try client.backend.effects().isEmpty)
        let path = flavour == .mobileServices ? "/login/facebook" : "/.auth/login/facebook"
        let login = try client.send("POST", path, #"{"access_token":"a\u0000b"}"#)
        #expect(login.status == 401, "\(login.text)")
    }
}
