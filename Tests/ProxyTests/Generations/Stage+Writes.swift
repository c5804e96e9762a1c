import Backend
import TablesProtocol
import Testing

extension Stage {
    private static let milk = ["text": "\"milk\"", "complete": "false", "rank": "1.5"]
    private static let milkText = #""text":"milk","complete":false,"rank":1.5"#

    /// Every write of the family, its answer, and the backend's row after the sync.
    func writes() async throws {
        let version = try await insertsAndSyncs()
        let bread = Self.milk.merging(["text": "\"bread\""]) { $1 }
        let breadText = #""text":"bread","complete":false,"rank":1.5"#

        try expectItem(
            try await ask(
                sdk.update("a1", #""text":"bread""#, whole: breadText, ifMatch: version)),
            200, id: "a1", bread)
        await sync()
        #expect(try await backendRow("a1")?.own == bread)
        // A change without a condition does not affect other columns.
        let done = bread.merging(["complete": "true"]) { $1 }
        let doneText = #""text":"bread","complete":true,"rank":1.5"#
        try expectItem(
            try await ask(sdk.update("a1", #""complete":true"#, whole: doneText)), 200, done)
        await sync()
        #expect(try await backendRow("a1")?.own == done)

        try await replaces(done)
        try await deletesAndRestores(doneText, done)
    }

    private func insertsAndSyncs() async throws -> String {
        let made = try await ask(sdk.insert(#"{"id":"a1",\#(Self.milkText)}"#))
        let mine = try expectItem(made, 201, id: "a1", Self.milk)
        #expect(made.field("Location")?.hasSuffix("/tables/\(flavour.table)/a1") == true)
        #expect(made.field("Understudy-State") == "pending")
        let own = try await ask(sdk.insert("{\(Self.milkText)}"))
        let id = try #require(try expectItem(own, 201, Self.milk).string("id"))
        #expect(id.count == (sdk.isThird ? 32 : 36), "\(id)")
        await sync()
        #expect(try await backendRow("a1")?.own == Self.milk)
        #expect(try await backendRow(id)?.own == Self.milk)

        let got = try await ask(sdk.get("a1"))
        let item = try expectItem(got, 200, id: "a1", Self.milk)
        #expect(got.field("Understudy-State") == "synced")
        let version = try #require(item.string(sdk.version))
        // The backend has accepted it unchanged, so clients see no change.
        #expect(mine.string(sdk.version) == version)
        #expect(mine.string(sdk.updatedAt) == item.string(sdk.updatedAt))
        return version
    }

    /// PUT: columns that are not in the body are removed, at the backend too.
    private func replaces(_ before: [String: String]) async throws {
        guard sdk.isThird else { return }
        var without = before
        without["rank"] = nil
        let told = try await ask(sdk.replace("a1", #""text":"bread","complete":true"#))
        try expectItem(told, 200, id: "a1", without)
        await sync()
        #expect(try await backendRow("a1")?.own == without)
        let whole = #""text":"bread","complete":true,"rank":1.5"#
        try expectItem(try await ask(sdk.replace("a1", whole)), 200, before)
        await sync()
        #expect(try await backendRow("a1")?.own == before)
    }

    private func deletesAndRestores(_ whole: String, _ columns: [String: String]) async throws {
        let version = try await ask(sdk.get("a1")).item?.string(sdk.version)
        let deleted = try await ask(sdk.delete("a1", ifMatch: version))
        #expect(deleted.status == deletionStatus)
        #expect(deleted.text.isEmpty == (deletionStatus == 204))
        #expect((deleted.etag == nil) == (deletionStatus == 204))
        await sync()
        #expect(try await isGoneAtBackend("a1"))
        expectError(try await ask(sdk.get("a1")), sdk.isThird ? 410 : 404)

        let back = try await ask(sdk.undelete("a1", whole: whole))
        guard TableOptions.standard(of: flavour).softDelete else {
            // The backend has no row that it could restore.
            expectError(back, 404)
            await sync()
            #expect(try await isGoneAtBackend("a1"))
            return expectError(try await ask(sdk.get("a1")), sdk.isThird ? 410 : 404)
        }
        try expectItem(back, sdk.family == .mobileApps ? 201 : 200, id: "a1", columns)
        await sync()
        #expect(try await backendRow("a1")?[flavour.deleted] == "false")
        #expect(try await backendRow("a1")?.own == columns)
        try expectItem(try await ask(sdk.get("a1")), 200, id: "a1", columns)
    }

    /// Invalid ids, types other than JSON, bodies that are too long; and values at the limits.
    private func refusedBodies() async throws {
        let long = String(repeating: "x", count: 255)
        for id in [#"a\"b"#, "a+b", "a?b", "a/b", "a`b", #"a\\b"#, "..", #"\u0001"#, long + "x"] {
            expectError(try await ask(sdk.insert(#"{"id":"\#(id)"}"#)), 400)
        }
        for (id, path) in [(long, long), ("it's a % id é", "it's%20a%20%25%20id%20%C3%A9")] {
            try expectItem(try await ask(sdk.insert(#"{"id":"\#(id)"}"#)), 201, id: id, [:])
            try expectItem(try await ask(sdk.get(path)), 200, id: id, [:])
            #expect(try await ask(sdk.delete(path)).status == deletionStatus)
        }
        for type in ["text/plain", "application/xml", "application/json; charset=utf-16", "json"] {
            var foreign = sdk.insert("{}")
            foreign.fields.removeAll { $0.0 == "Content-Type" }
            foreign.fields.append(("Content-Type", type))
            expectError(try await ask(foreign), 415)
        }
        let text = String(repeating: "x", count: 1 << 20)
        let frame = #"{"id":"big","text":""}"#
        let most = String(text.dropLast(frame.utf8.count))
        let big = #"{"id":"big","text":"\#(most)"}"#
        try expectItem(try await ask(sdk.insert(big)), 201, id: "big", ["text": "\"\(most)\""])
        #expect(try await ask(sdk.delete("big")).status == deletionStatus)
        expectError(try await ask(sdk.insert(big + " ")), 413)
    }

    /// Refusals have the family's form and change nothing.
    func refusals() async throws {
        try expectItem(
            try await ask(sdk.insert(#"{"id":"a1",\#(Self.milkText)}"#)), 201, Self.milk)
        await sync()
        let whole = #""text":"x","complete":false,"rank":1.5"#
        let twice = try await ask(sdk.insert(#"{"id":"a1","text":"other"}"#))
        if sdk.isFirst { expectError(twice, 409) } else { try expectItem(twice, 409, Self.milk) }
        let stale = "AAAAAAAAAAA="
        let changed = sdk.update("a1", #""text":"x""#, whole: whole, ifMatch: stale)
        try expectItem(try await ask(changed), 412, Self.milk)
        try expectItem(try await ask(sdk.delete("a1", ifMatch: stale)), 412, Self.milk)

        expectError(try await ask(sdk.get("none")), 404)
        expectError(try await ask(sdk.update("none", #""text":"x""#, whole: whole)), 404)
        expectError(try await ask(sdk.delete("none")), 404)
        for filter in ["text eq", "(text eq 'a'", "text eq 'a' and"] {
            expectError(try await ask(sdk.list("$filter=\(filter)")), 400)
        }
        // An unknown function is the backend's, and a backend of another generation is not asked.
        let isAsked =
            sdk.isFirst
            ? flavour == .mobileServices
            : sdk.isThird == flavour.isThird && flavour != .mobileServices
        let unknown = isAsked ? (flavour.isNode ? 500 : 400) : 501
        let told = try await ask(sdk.list("$filter=nofunction(text) eq 1"))
        #expect(told.status == unknown, "\(told.text)")
        expectError(try await ask(sdk.list("$top=-1")), 400)
        for body in [
            "{\"text\":", "[1]", "\"a\"", "{\"a\":1,\"a\":2}", #"{"text":"\ud800"}"#, "",
            "{\"text\":\"\u{0}\"}", "{\"n\":01}", "{\"n\":1}x", "nul", "{\"id\":true}",
            #"{"id":"a","text":"x","TEXT":"y"}"#, String(repeating: "[", count: 100),
        ] {
            expectError(try await ask(sdk.insert(body)), 400)
        }
        let respelled = try await ask(sdk.insert(#"{"ID":"a1","text":"other"}"#))
        if sdk.isFirst {
            expectError(respelled, 400)
        } else {
            try expectItem(respelled, 409, Self.milk)
        }
        let both = #""text":"x","TEXT":"y""#
        expectError(try await ask(sdk.update("a1", both, whole: both)), 400)
        try await refusedBodies()
        await sync()
        #expect(try await askBackend(flavour.all()).items.count == 1)
        #expect(try await backendRow("a1")?.own == Self.milk)
    }
}
