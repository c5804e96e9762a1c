import Platform
import SyncCore
import TablesProtocol
import Testing

@testable import Proxy

/// What becomes of a policy that a configuration named and names no more.
struct WithdrawnPoliciesTests {
    private func settings(_ texts: [String]) throws -> [PolicySetting] {
        try texts.map { try #require(PolicySetting($0)) }
    }

    /// The policies of a table in words.
    private func words(_ test: TestApp, _ table: String) async throws -> [String] {
        let tables = try await test.graph.tenants.anonymous.store.tables()
        let found = try #require(tables.first { $0.name == table })
        return [
            found.readPolicy.rawValue, found.writePolicy.rawValue, found.conflictPolicy.rawValue,
            found.unconditionalPolicy.rawValue, "\(found.preservesHistory)",
            "\(found.parents.count)",
        ]
    }

    @Test func `it goes back to the standard, and what is named still stays`() async throws {
        try await TestApp.run { test in
            let earlier = try settings([
                "todoitem=server+revalidate+preserve-history", "todoitem=parent:list.listId",
                "notes=merge",
            ])
            #expect(try await test.graph.change(earlier) == 0)
            let now = try settings(["todoitem=revalidate"])
            #expect(try await test.graph.withdraw(earlier, except: now) == 0)
            #expect(
                try await words(test, "todoitem") == [
                    "revalidate", "standard", "ask", "ask", "false", "0",
                ])
            #expect(
                try await words(test, "notes")
                    == ["standard", "standard", "ask", "ask", "false", "0"])
        }
    }

    @Test func `indexes are named by the configuration and the operator, and wrong ones refused`()
        async throws
    {
        try await TestApp.run { test in
            func indexes() async throws -> [String]? {
                try await test.graph.tenants.anonymous.store.tables().first?.indexes
            }
            let earlier = try settings(["todoitem=index:price desc+local+index:complete,text"])
            #expect(try await test.graph.change(earlier) == 0)
            #expect(try await indexes() == ["complete,text", "price desc"])
            #expect(try await test.graph.withdraw(earlier, except: []) == 0)
            #expect(try await indexes() == [])
            let set = try await test.ask(
                "PATCH", "/tables/todoitem", #"{"indexes":["text","price desc","text asc"]}"#)
            #expect(set.status == 200)
            #expect(set.body["indexes"]?.text == #"["price desc","text"]"#)
            for wrong in [
                #""text""#, "[1]", #"["length(text)"]"#, #"["updatedAt"]"#,
                #"["a","b","c","d","e"]"#,
            ] {
                let refused = try await test.ask(
                    "PATCH", "/tables/todoitem", #"{"indexes":\#(wrong)}"#)
                #expect(refused.status == 400, "\(wrong)")
            }
            #expect(try await indexes() == ["price desc", "text"])
            #expect(PolicySetting("todoitem=index:id") == nil)
            #expect(
                PolicySetting.refusal("todoitem=index:id")?.contains("such as price desc") == true)
            #expect(PolicySetting.refusal("todoitem=wrong+index:text") == nil)
        }
    }

    @Test func `what it said of all tables ends with its line, and is in no store`() async throws {
        try await TestApp.run(triggers: Set(Trigger.allCases), tables: ["todoitem"]) { test in
            func shown() async throws -> [String?] {
                let table = try await test.ask("GET", "/tables").body["items"]?.array?.first
                return [table?["readPolicy"]?.string, table?["writePolicy"]?.string]
            }
            try await test.firstPull(of: "todoitem")
            let earlier = try settings(["*=remote-first", "*=local", "*=write-through"])
            #expect(try await test.graph.change(earlier) == 0)
            #expect(try await shown() == ["local", "write-through"])
            #expect(
                try await words(test, "todoitem").prefix(2) == ["standard", "standard"])
            #expect(try await test.graph.withdraw(earlier, except: []) == 0)
            #expect(try await test.graph.change([]) == 0)
            #expect(try await shown() == ["revalidate", "write-through"])
        }
    }

    @Test func `what was set otherwise since stays`() async throws {
        try await TestApp.run { test in
            let earlier = try settings(["todoitem=server+write-through"])
            #expect(try await test.graph.change(earlier) == 0)
            let set = try await test.ask(
                "PATCH", "/tables/todoitem", #"{"conflictPolicy":"merge"}"#)
            #expect(set.status == 200)
            #expect(try await test.graph.withdraw(earlier, except: []) == 0)
            #expect(
                try await words(test, "todoitem") == [
                    "standard", "standard", "merge", "ask", "false", "0",
                ])
        }
    }

    @Test func `the data folder keeps what the last configuration named`() async throws {
        try await TestApp.run { test in
            #expect(try test.folder.configuredPolicies() == [])
            try test.folder.keep(configuredPolicies: [])
            #expect(!Files.exists("\(test.folder.path)/policies"))
            try test.folder.keep(configuredPolicies: ["a=server", "b=merge+local"])
            #expect(
                try test.folder.configuredPolicies() == settings(["a=server", "b=merge+local"]))
            try test.folder.keep(configuredPolicies: [])
            #expect(try test.folder.configuredPolicies() == [])
        }
    }

    /// The conflict policies of a store, by table.
    private func conflicts(_ test: TestApp, _ identity: String) async throws -> [String: String] {
        let tenant = try await test.graph.tenants.open(identity)
        return try await tenant.store.tables().reduce(into: [:]) { words, table in
            words[table.name] = table.conflictPolicy.rawValue
        }
    }

    @Test func `the store of each user is judged by its own policies`() async throws {
        try await TestApp.run { test in
            let earlier = try settings(["todoitem=server", "notes=merge"])
            #expect(try await test.graph.change(earlier) == 0)
            for user in ["ana", "bob"] {
                #expect(
                    try await conflicts(test, user) == ["todoitem": "server", "notes": "merge"])
            }
            let set = try await test.ask(
                "PATCH", "/tables/todoitem?identity=ana", #"{"conflictPolicy":"merge"}"#)
            #expect(set.status == 200)
            // A policy that is set in the anonymous store changes no other store.
            let anonymous = try await test.ask(
                "PATCH", "/tables/notes?identity=anonymous", #"{"conflictPolicy":"client"}"#)
            #expect(anonymous.status == 200)
            #expect(try await test.graph.withdraw(earlier, except: []) == 0)
            #expect(
                try await conflicts(test, "anonymous") == ["todoitem": "ask", "notes": "client"])
            #expect(try await conflicts(test, "ana") == ["todoitem": "merge", "notes": "ask"])
            #expect(try await conflicts(test, "bob") == ["todoitem": "ask", "notes": "ask"])
        }
    }

    @Test func `a store without a table gets none`() async throws {
        try await TestApp.run { test in
            let left = try await test.graph.withdraw(
                try settings(["todoitem=server"]), except: [])
            #expect(left == 0)
            let found = try await conflicts(test, "anonymous")
            #expect(found == [:])
        }
    }

    @Test func `a backup has what was named, and a restore puts it in place`() async throws {
        try await TestApp.run { test in
            let earlier = ["b=merge"]
            // A backup without the file changes nothing.
            #expect(try Self.restored(test.folder, over: earlier) == settings(earlier))
            try test.folder.keep(configuredPolicies: ["a=server"])
            #expect(try Self.restored(test.folder, over: earlier) == settings(["a=server"]))
            try test.folder.keep(configuredPolicies: [])
            #expect(try Self.restored(test.folder, over: earlier) == [])
        }
    }

    /// What a new data folder says was named, after a backup of another one was restored to it.
    /// - Parameter earlier: what it said before.
    private static func restored(
        _ folder: DataFolder, over earlier: [String]
    ) throws -> [PolicySetting] {
        let place = "/tmp/understudy-tests/\(ThisProcess.secret())"
        let target = DataFolder(path: place)
        let lock = try target.open()
        defer {
            lock.release()
            try? Files.removeFolder(place)
        }
        try target.keep(configuredPolicies: earlier)
        let backup = Backup(path: "\(place)/copy")
        _ = try Backup.make(of: folder, at: backup.path)
        _ = try backup.restore(try backup.verified(), to: target)
        return try target.configuredPolicies()
    }
}
