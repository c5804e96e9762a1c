import Backend
import Foundation
import HTTPMessage
import HTTPTypes
import Logging
import TablesProtocol
import TestSupport
import Testing

@testable import SyncCore

/// A backend, a faulty transport, a store and an engine, on a stopped clock.
final class World: Sendable {
    let folder: String
    let clock = ManualClock()
    let random: SeededRandom
    let backend: TablesBackend
    let flavour: BackendFlavour
    let transport: FaultyTransport
    let store: Store
    let engine: SyncEngine
    let todo: TableName

    init(
        _ options: BackendOptions = BackendOptions(flavour: .mobileApps), seed: UInt64 = 1,
        settings: SyncSettings = SyncSettings(triggers: [.manual]), part: String? = nil,
        generation: BackendConfiguration.GenerationChoice = .auto,
        credential: @escaping @Sendable () -> Credential = { .none },
        refused: @escaping @Sendable (Credential) -> Void = { _ in },
        log: Logger = Logger(label: "test")
    ) throws {
        folder = NSTemporaryDirectory() + "understudy-engine-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let (clock, random) = (clock, SeededRandom(seed))
        self.random = random
        flavour = options.flavour
        todo = try #require(TableName("todoitem"))
        var parts: [TableName: TablePart] = [:]
        if let part { parts[todo] = try TablePart(parsing: part) }
        // Each read advances the backend's clock, so that its stamps differ.
        backend = try TablesBackend(
            options: options.having(todo),
            clock: {
                clock.advance(by: .milliseconds(1))
                return clock.now()
            }, random: random)
        transport = FaultyTransport(InProcessTransport(backend) { clock.now() })
        store = try Store(
            at: folder + "/store.sqlite", identity: "anonymous", clock: clock, ids: random,
            workers: 1, parts: parts)
        engine = SyncEngine(
            store: store, transport: transport,
            backend: BackendConfiguration(
                address: try #require(BackendAddress("http://backend:1")),
                generation: generation),
            settings: settings, clock: clock, random: random, log: log,
            credential: credential, refused: refused)
    }

    deinit {
        // A failed removal leaves only a temporary folder.
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// A backend of a flavour whose table has these options.
    convenience init(_ flavour: BackendFlavour, _ table: TableOptions) throws {
        var options = BackendOptions(flavour: flavour)
        options.tables = [try #require(TableName("todoitem")): table]
        try self.init(options)
    }

    /// The same store in another process: opened anew, with an engine of its own.
    func reborn(
        address: String = "http://backend:1", file: String = "store.sqlite",
        parts: [TableName: TablePart]? = nil
    ) throws -> (Store, SyncEngine) {
        let store = try Store(
            at: folder + "/\(file)", identity: "anonymous", clock: clock, ids: random,
            workers: 1, parts: parts)
        let engine = SyncEngine(
            store: store, transport: transport,
            backend: BackendConfiguration(address: try #require(BackendAddress(address))),
            settings: SyncSettings(triggers: [.manual]), clock: clock, random: random,
            log: Logger(label: "test"))
        return (store, engine)
    }

    // MARK: The local side

    @discardableResult
    func write(_ action: WriteAction, ifMatch: IfMatch = .absent) async -> WriteOutcome {
        await store.submit(
            LocalWrite(table: todo, action: action, conditions: Conditions(ifMatch: ifMatch)))
    }

    func insert(_ id: String, _ columns: String = #"{"text":"milk","rank":1}"#) async throws {
        let body = ItemBody(id: try ItemID(id), columns: Columns(stored: columns))
        guard case .inserted = await write(.insert(body)) else {
            throw Failure("insert of \(id)")
        }
    }

    func update(_ id: String, _ columns: String) async throws {
        let outcome = await write(.update(try ItemID(id), Columns(stored: columns)))
        guard case .updated = outcome else { throw Failure("update of \(id): \(outcome)") }
    }

    func delete(_ id: String) async throws {
        guard case .deleted = await write(.delete(try ItemID(id))) else {
            throw Failure("delete of \(id)")
        }
    }

    struct Failure: Error {
        let what: String
        init(_ what: String) { self.what = what }
    }

    /// The local item as a client sees it; nil when there is none or a tombstone.
    func local(_ id: String) async throws -> Item? {
        let item = try await row(id)
        return item?.deleted == true ? nil : item
    }

    func row(_ id: String) async throws -> Item? { try await row(try ItemID(id)) }

    func row(_ id: ItemID) async throws -> Item? {
        let todo = todo
        return try await store.read { transaction in
            try transaction.tables.table(todo).flatMap { try transaction.items.row($0, id)?.item }
        }
    }

    func operations(_ states: Set<OperationState> = Set(OperationState.allCases)) async throws
        -> [OperationSummary]
    {
        try await store.lists.operations(OperationFilter(states: states), after: nil, limit: 100)
            .items
    }

    func open() async throws -> [OperationSummary] { try await operations(OperationState.open) }

    /// What the file of the store holds.
    func contents() throws -> StoreContents {
        try StoreOnDisk(at: folder + "/store.sqlite").verify()
    }

    // MARK: The backend's side

    /// Another client's write at the backend.
    @discardableResult
    func elsewhere(_ method: String, _ id: String?, _ body: String? = nil) async throws -> Int {
        var path = "/tables/todoitem"
        if let id { path += "/\(id)" }
        let direct = InProcessTransport(backend)
        let response = try await direct.send(.tables(method, path, body))
        return response.head.status.code
    }

    /// Inserts a row at the backend in the form of its flavour.
    func seed(_ id: String, _ columns: String) async throws {
        var columns = Columns(stored: columns)
        columns["id"] = .string(id)
        guard try await send("POST", "/tables/todoitem", columns.text) == 201 else {
            throw Failure("seed of \(id)")
        }
    }

    /// Another client's request, of the generation of the backend.
    /// - Returns: the status.
    func send(_ method: String, _ path: String, _ body: String? = nil) async throws -> Int {
        var request = Request.tables(method, path, body)
        let zumo = try #require(HTTPField.Name("ZUMO-API-VERSION"))
        switch flavour {
        case .mobileServices: request.head.headerFields[zumo] = nil
        case .mobileApps, .node, .express, .dotnet: break
        case .datasync, .toolkit: request.head.headerFields[zumo] = "3.0.0"
        }
        return try await InProcessTransport(backend).send(request).head.status.code
    }

    func remote(_ id: String) async throws -> Item? {
        try await backend.items(in: todo).first { $0.id.text == id }
    }

    /// A connection to the backend as a pass uses it.
    func remote() throws -> Remote {
        Remote(
            transport: transport, address: try #require(BackendAddress("http://backend:1")),
            generation: .mobileApps, credential: .none, clock: clock)
    }

    /// Pushes to a backend whose deleted rows cannot be read, so that it stays unknown how it deletes.
    func pushWithoutLearning() async -> Run {
        transport.decide { request, _ in
            (request.head.path ?? "").contains("__includeDeleted") ? .notSent : nil
        }
        defer { transport.decide { _, _ in nil } }
        return await engine.push()
    }

    /// The requests sent, without the reads.
    var writes: [String] {
        transport.targets.filter { !$0.hasPrefix("GET") }.map {
            $0.replacingOccurrences(of: "/tables/todoitem", with: "")
        }
    }

    // MARK: Time

    /// Advances the clock until the condition holds, only while both the loop and its watchdog sleep,
    /// so that the result does not depend on the machine's speed.
    func pass(until condition: @escaping @Sendable () async throws -> Bool) async throws {
        while try await !condition() {
            try Task.checkCancellation()
            await Task.yield()
            guard clock.sleepers >= 2 else { continue }
            clock.advance(by: .milliseconds(250))
            // The tasks that the clock has woken run before it goes on, also on a busy machine.
            for _ in 0..<20 { await Task.yield() }
        }
    }

    /// Advances the clock and lets the loop run.
    func pass(for time: Duration) async throws {
        let end = clock.uptime() + time
        try await pass { [clock] in clock.uptime() >= end }
    }
}

extension Response {
    /// A backend's answer in JSON.
    static func json(_ body: String, _ status: Int = 200, _ fields: HTTPFields = [:]) -> Response {
        var fields = fields
        fields[.contentType] = "application/json"
        return Response(
            status: .init(code: status), headerFields: fields, body: Array(body.utf8))
    }

    /// A backend's refusal that names no content type.
    static func refusal(_ status: Int) -> Response {
        Response(status: .init(code: status), body: Array(#"{"error":"no"}"#.utf8))
    }
}

extension Store {
    func firstConflict() async throws -> ConflictDetail {
        try #require(try await lists.conflicts(after: nil, limit: 9).items.first)
    }

    func lastEntry() async throws -> HistoryEntry {
        try #require(try await lists.history(after: nil, limit: 1).items.first)
    }

    /// The latest entry of a kind.
    func entry(_ kind: HistoryKind) async throws -> HistoryEntry {
        try #require(try await lists.history(after: nil, limit: 50).items.first { $0.kind == kind })
    }
}
