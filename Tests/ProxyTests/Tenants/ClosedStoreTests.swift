import HTTPMessage
import HTTPTypes
import Platform
import SyncCore
import Synchronization
import TablesProtocol
import Testing

@testable import Proxy

/// The index entry of a closed store, and stores that cannot be opened.
struct ClosedStoreTests {
    @Test func `an entry is trusted only after its store was closed, and until its file changes`()
        async throws
    {
        try await TestApp.run { test in
            let tenants = test.graph.tenants
            let path = try test.folder.storeFile("ana")
            func holds() throws -> Bool {
                try tenants.index.entries()["ana"]?.holds(of: path, file: StoreFile.init(path:))
                    ?? false
            }
            // The index entry while the store is being closed.
            let between = Mutex<[StoreIndex.Entry?]>([])
            func indexAndClose(_ store: Store, _ entry: StoreIndex.Entry?) -> StoreIndex.Entry? {
                tenants.indexAndClose(store, entry) { path in
                    between.withLock { $0.append(try? tenants.index.entries()["ana"]) }
                    return StoreFile(path: path)
                }
            }
            let first = indexAndClose(try store(path), nil)
            #expect(between.withLock { $0.last??.file == nil })
            #expect(try holds())
            // An opening may change the file, but not the summary.
            let again = indexAndClose(try store(path), first)
            #expect(again?.summary == first?.summary)
            #expect(try holds())
            let changed = try store(path)
            #expect(try !holds())
            _ = try await changed.updateTable(try #require(TableName("todoitem"))) { _ in }
            let second = indexAndClose(changed, again)
            #expect(between.withLock { $0.last??.file == nil })
            #expect(second?.summary != first?.summary)
            #expect(try holds())
            // Another program opens the store, changes it and closes it.
            let other = try store(path)
            _ = try await other.updateTable(try #require(TableName("other"))) { _ in }
            try other.close()
            #expect(try !holds())
        }
    }

    private func store(_ path: String) throws -> Store {
        try Store(
            at: path, identity: "ana", clock: SystemClock(), ids: SystemIDSource(), workers: 1)
    }

    @Test func `a change for all is made in every store, and in a damaged one later`()
        async throws
    {
        let shapes = OpenAPIShapes(try JSONValue(parsing: PackageResources.openapi_json))
        try await TestApp.run { test in
            let tenants = test.graph.tenants
            let path = try test.folder.storeFile("ana")
            try Files.write(path, Array(repeating: 7, count: 9000))
            tenants.stores.withLock { $0.closed["ana"] = .unexamined }
            for name in ["aaa", "ben"] { _ = try await tenants.open(name) }

            let answer = try await test.ask(
                "PATCH", "/tables/todoitem", #"{"conflictPolicy":"merge"}"#)
            #expect(answer.status == 503)
            #expect(answer.body["code"]?.string == "stores-left")
            #expect(shapes.mismatch(answer.body, "Problem") == nil)
            let detail = try #require(answer.body["detail"]?.string)
            #expect(detail.hasPrefix("1 of 4 stores could not be changed"))
            #expect(!detail.contains("ana"))
            for name in ["anonymous", "aaa", "ben"] {
                #expect(try await policy(tenants, name) == .merge, "\(name)")
            }

            let warnings = try await test.ask("GET", "/status").body["warnings"]?.array ?? []
            #expect(
                warnings.contains { $0.string?.hasPrefix("1 store could not be opened") == true })
            let metrics = String(
                decoding: await test.send(.make("GET", "/-/metrics")).bytes ?? [], as: UTF8.self)
            #expect(metrics.contains(#"understudy_stores{state="failed"} 1"#))
            #expect(metrics.contains(#"understudy_stores{state="unexamined"} 0"#))
            let ready = await test.send(.make("GET", "/-/readyz?verbose"))
            #expect(ready.head.status == .ok)
            #expect(String(decoding: ready.bytes ?? [], as: UTF8.self).contains("1 could not be"))

            Files.remove(path)
            #expect(try await policy(tenants, "ana") == .merge)
            func left() throws -> Set<String> { try tenants.index.deferredPolicies(of: "ana") }
            #expect(try left() == [])
            #expect(tenants.closedStores.failed == 0)
        }
    }

    @Test func `every store is counted once while stores are opened and closed`() async throws {
        try await TestApp.run { test in
            let tenants = test.graph.tenants
            let users = (0..<3 * Limits.openStores).map { "user\($0)" }
            for user in users { _ = try await tenants.open(user) }
            await withDiscardingTaskGroup { group in
                for part in 0..<3 {
                    group.addTask {
                        for user in users[(part * Limits.openStores)...] {
                            _ = try? await tenants.open(user)
                        }
                    }
                }
                group.addTask {
                    for _ in 0..<200 {
                        let (open, closed) = await tenants.census()
                        #expect(open.count + closed.known == users.count + 1)
                    }
                }
            }
        }
    }

    private func policy(_ tenants: TenantRegistry, _ identity: String) async throws
        -> ConflictPolicy?
    {
        let tables = try await tenants.open(identity).store.tables()
        return tables.first { $0.name == "todoitem" }?.conflictPolicy
    }
}
