import Proxy
import SyncCore
import TablesProtocol
import Testing

@testable import understudy

/// What a command without `--identity` says of the stores of users.
@Suite struct UserStoresTests {
    private func stores(_ rows: String...) throws -> UserStores {
        UserStores(Page(try rows.map { try some(Answers.KnownIdentity.self, $0) }))
    }

    private static let anonymous =
        #"{"identity":"anonymous","openOperations":9,"conflicts":9,"quarantined":9}"#
    private static let ana =
        #"{"identity":"aad-ana","openOperations":2,"conflicts":1,"quarantined":0}"#
    private static let ben =
        #"{"identity":"aad-ben","openOperations":1,"conflicts":0,"quarantined":1}"#
    private static let unknown =
        #"{"identity":"aad-cem","openOperations":null,"conflicts":null,"quarantined":null}"#

    @Test func `the stores of users are added up, without the anonymous one`() throws {
        let all = try stores(Self.anonymous, Self.ana, Self.ben, Self.unknown)
        #expect(
            JSONValue(answer: all).text
                == #"{"stores":3,"unknown":1,"openOperations":3,"conflicts":1,"quarantined":1}"#)
        #expect(
            all.text
                == "3 stores, 3 open operations (1 conflict, 1 refused), 1 not looked at yet: "
                + "understudy identities")
        #expect(
            all.hint
                == "Users who signed in have 3 open operations (1 conflict, 1 refused) in stores "
                + "of their own: `understudy identities` lists them, --identity chooses one.")
    }

    @Test func `a store that was not looked at is never called empty`() throws {
        let one = try stores(Self.anonymous, Self.unknown)
        #expect(one.text == "1 store, 1 not looked at yet: understudy identities")
        #expect(one.hint == nil)
    }

    @Test func `without users nothing is said`() throws {
        let none = try stores(Self.anonymous)
        #expect(none.text == nil && none.hint == nil)
    }
}
