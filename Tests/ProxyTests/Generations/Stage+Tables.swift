import Backend
import SyncCore
import TablesProtocol
import Testing

// Tables with integer ids, and tables that require a sign-in.
extension Stage {
    /// Every write of a table whose ids the backend assigns.
    func integerIDs() async throws {
        let sdk = SDK(family: sdk.family, table: "numbers")
        let theirs = try await askBackend(flavour.insert(#"{"text":"theirs"}"#, table: "numbers"))
        #expect(theirs.status == 201 && theirs.item?["id"] == "1", "\(theirs.text)")
        await sync()
        // The third generation's ids are always texts.
        guard !sdk.isThird else {
            expectError(try await ask(sdk.list("$orderby=id")), 501)
            return expectError(try await ask(sdk.insert(#"{"text":"mine"}"#)), 501)
        }
        #expect(try await ask(sdk.list("$orderby=id")).ids == ["1"])

        let made = try await ask(sdk.insert(#"{"text":"mine"}"#))
        #expect(made.status == 201 && made.item?.own == ["text": #""mine""#], "\(made.text)")
        let provisional = try #require(made.item?["id"])
        #expect(Int64(provisional).map { $0 > 2 } == true, "\(made.text)")
        await sync()
        #expect(try await backendRows(of: "numbers").map { $0["id"] } == ["1", "2"])
        for id in ["2", provisional] {
            let got = try await ask(sdk.get(id))
            #expect(got.status == 200 && got.item?["id"] == "2", "\(id) \(got.text)")
            #expect(got.item?.own == ["text": #""mine""#])
        }
        var whole = sdk.update("2", #""text":"changed""#, whole: #""text":"changed""#)
        whole.body = whole.body.replacing(#""id":"2""#, with: #""id":2"#)
        let changed = try await ask(whole)
        #expect(changed.status == 200 && changed.item?["id"] == "2", "\(changed.text)")
        await sync()
        #expect(
            try await backendRows(of: "numbers").map(\.own)
                == [["text": #""theirs""#], ["text": #""changed""#]])
        #expect(try await ask(sdk.delete("2")).status == deletionStatus)
        await sync()
        #expect(try await backendRows(of: "numbers").map { $0["id"] } == ["1"])
        #expect(try await ask(sdk.list("$orderby=id")).ids == ["1"])
    }

    /// A table that answers 401 without a token is not an empty list, and does not block other tables.
    func signIn() async throws {
        let secrets = SDK(family: sdk.family, table: "secrets")
        try await expectNotRead(secrets)
        try expectItem(
            try await ask(sdk.insert(#"{"id":"a1","text":"x"}"#)), 201, ["text": #""x""#])
        await sync(.completeWithErrors)
        #expect(try await backendRow("a1")?.own == ["text": #""x""#])
        try await expectNotRead(secrets)
    }

    /// The backend's 401 is passed on; a client of its generation gets it unchanged.
    private func expectNotRead(_ sdk: SDK) async throws {
        let told = try await ask(sdk.list())
        #expect(told.status == 401)
        if sdk.family == .mobileApps {
            #expect(told.text == "You must be logged in to use this application")
        } else {
            expectError(told, 401)
        }
    }
}
