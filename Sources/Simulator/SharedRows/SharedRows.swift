import Backend
import Foundation
import HTTPMessage
import HTTPTypes
import Logging
package import SyncCore
import TablesProtocol

/// One run of clients, other writers and a person who all write the same few rows, drawn from a seed.
///
/// 1. Clients use every verb at one or two proxies, others write at the backend, also while a request is
///    under way. The person takes every decision there is, some on a view that is old by then.
/// 2. The network loses answers and requests; the backend ignores filters, has no table for a while, lists
///    a row that no store can take, or is answered for by something else.
/// 3. After each request the whole rows at the backend are compared with those before (``ValueHistory``).
/// 4. At the end all is well again: what was accepted is there, pending or given up, and both sides hold
///    the same whole rows.
package actor SharedRows {
    let plan: SharedRowsPlan
    let random: SeededRandom
    let clock = ManualClock()
    let backend: TablesBackend
    let table = Simulation.table
    let home: String
    var proxies: [SharedRowsProxy] = []
    var history = ValueHistory()
    /// What happened in the run, newest last.
    var trace: [String] = []
    package private(set) var faults: [String] = []
    var ids: [String] = []
    /// Items whose end a person or a policy has decided.
    var givenUp: Set<String> = []
    /// The last value that clients were promised, for each item and column; that it is gone, where they
    /// deleted it.
    var promised: [String: [String: String]] = [:]
    /// Conflicts as a person saw them some time ago.
    var seenBefore: [(proxy: Int, detail: ConflictDetail)] = []
    private var counter = 0
    /// The backend ignored filters or hid rows at some time.
    var hasAnsweredWrongly = false
    /// Another side acts while a request is under way; at the end none does any more.
    var isInterfering = false
    /// It acts while a page is asked for, and the one before may be applied at the same moment: between
    /// what a client reads and what it writes the row may become another one.
    var isBesideRead = false

    static let columns = ["a", "b", "c", "o"]
    /// How ids begin that clients of the proxies make.
    static let madeHere = "i"

    package init(_ plan: SharedRowsPlan) throws {
        self.plan = plan
        random = SeededRandom(plan.seed)
        let memory = "/dev/shm"
        let root = FileManager.default.isWritableFile(atPath: memory) ? memory : "/tmp"
        home = root + "/understudy-shared-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: home, withIntermediateDirectories: true)
        var options = BackendOptions(flavour: plan.flavour)
        options.tables = [table: TableOptions(softDelete: plan.deletesSoftly)]
        // A counter begins anew with a row that was deleted for good: the same version, another row.
        options.versions = .random
        let clock = clock
        backend = try TablesBackend(
            options: options,
            clock: {
                clock.advance(by: .milliseconds(1))
                return clock.now()
            }, random: SeededRandom(plan.seed &+ 1))
    }

    /// Goes through the steps and to the end. Nothing of the run is left.
    /// - Parameter bug: what the product is told to do wrong.
    /// - Returns: what was found, in sentences with the trace of the item.
    package func run(steps: Int, bug: ProductBug? = nil) async throws -> [String] {
        defer { try? FileManager.default.removeItem(atPath: home) }
        for number in 0..<plan.proxies {
            proxies.append(try await proxy(number, bug))
        }
        for _ in 0..<3 { insertElsewhere() }
        if random.happens(0.3) { try await beginRefused() }
        for proxy in proxies where random.happens(0.5) { changeMood(of: proxy) }
        for _ in 0..<steps where faults.isEmpty { try await step(random.pick(proxies)) }
        if faults.isEmpty { try await end() }
        for proxy in proxies { try? proxy.store.close() }
        return faults
    }

    private func proxy(_ number: Int, _ bug: ProductBug?) async throws -> SharedRowsProxy {
        let transport = SharedRowsTransport(
            InProcessTransport(backend), random: SeededRandom(plan.seed &+ 10 &+ UInt64(number)),
            faults: plan.faults
        ) { [weak self] request, send throws(TransportError) in
            guard let self else { return try await send() }
            return try await self.around(request, of: number, send)
        }
        let proxy = try SharedRowsProxy(
            number, home: home, transport: transport, clock: clock,
            ids: SeededRandom(plan.seed &+ 20 &+ UInt64(number)), bug: bug)
        let plan = plan
        _ = try await proxy.store.updateTable(table) { settings in
            settings.conflictPolicy = plan.conflictPolicy
            settings.unconditionalPolicy = plan.unconditionalPolicy
            settings.preservesHistory = plan.preservesHistory
        }
        return proxy
    }

    // MARK: The backend

    func remote() -> [String: Item] {
        let items = (try? backend.items(in: table)) ?? []
        return Dictionary(items.map { ($0.id.text, $0) }) { $1 }
    }

    /// Passes a request on and books what it changed; others may act while it is under way.
    private func around(
        _ request: Request, of proxy: Int,
        _ send: @Sendable () async throws(TransportError) -> Response
    ) async throws(TransportError) -> Response {
        let isRead = request.head.method == .get
        await interfere(besideRead: isRead)
        guard !isRead else {
            let response = try await send()
            await interfere(besideRead: true)
            return response
        }
        let before = remote()
        note(
            "p\(proxy) sends \(request.head.method.rawValue) \(request.head.path ?? "") "
                + "\(String(decoding: request.body, as: UTF8.self)) \(request.head.headerFields[.ifMatch] ?? "")"
        )
        let response = try await send()
        book(
            from: before, by: proxy,
            what: "\(request.head.method.rawValue) \(request.head.path ?? "")")
        await interfere(besideRead: false)
        return response
    }

    private func interfere(besideRead: Bool) async {
        guard !isInterfering, random.happens(0.25), faults.isEmpty else { return }
        (isInterfering, isBesideRead) = (true, besideRead)
        defer { (isInterfering, isBesideRead) = (false, false) }
        do {
            switch random.next(below: 8) {
            case 0..<4: writeElsewhere()
            case 4..<6: try await writeHere(random.pick(proxies))
            default: try await takePart(random.pick(proxies))
            }
        } catch {
            fault("a step failed: \(error)")
        }
    }

    /// Compares all rows with those before.
    func book(from before: [String: Item], by side: Int, what: String) {
        let after = remote()
        for id in Set(before.keys).union(after.keys).sorted() {
            let (old, new) = (ValueHistory.row(before[id]), ValueHistory.row(after[id]))
            if old == new { continue }
            note("\(side < 0 ? "others" : "p\(side)") \(what): \(id) \(old) -> \(new)")
            let found = history.change(
                id, from: old, to: new, by: side, policyWins: plan.letsLocalWin,
                policyRepeats: plan.repeatsLocal)
            for text in found { fault(text, id) }
            if side < 0 { givenUpByOthers(id, old, new) }
        }
    }

    /// What another writer has replaced is no longer promised.
    private func givenUpByOthers(_ id: String, _ old: ValueHistory.Row, _ new: ValueHistory.Row) {
        promised[id]?[ValueHistory.deleted] = nil
        for name in Self.columns where old[name] != new[name] { promised[id]?[name] = nil }
        if new[ValueHistory.deleted] == "true" { promised[id] = nil }
    }

    // MARK: What was found

    func note(_ line: String) { trace.append(line) }

    func fault(_ text: String, _ id: String? = nil) {
        let about = trace.filter { line in id.map { line.contains($0) } ?? true }
        faults.append(
            "seed \(plan.seed) (\(plan.flavour), \(plan.conflictPolicy), \(plan.unconditionalPolicy)): \(text)\n    "
                + about.suffix(20).joined(separator: "\n    "))
    }

    func value() -> String {
        counter += 1
        return "\"v\(counter)\""
    }
}

/// A proxy of a run of shared rows.
final class SharedRowsProxy: Sendable {
    let number: Int
    let store: Store
    let engine: SyncEngine
    let transport: SharedRowsTransport

    init(
        _ number: Int, home: String, transport: SharedRowsTransport, clock: ManualClock,
        ids: SeededRandom, bug: ProductBug?
    ) throws {
        self.number = number
        self.transport = transport
        store = try Store(
            at: "\(home)/\(number).sqlite", identity: "anonymous", clock: clock, ids: ids,
            workers: 1)
        #if DEBUG
            store.plant(bug)
        #endif
        var log = Logger(label: "simulation")
        log.logLevel = .critical
        engine = SyncEngine(
            store: store, transport: transport,
            backend: BackendConfiguration(address: Simulation.address),
            settings: SyncSettings(
                triggers: [.manual], parallelism: 1, tables: [Simulation.table], pageRows: 60),
            clock: clock, random: ids, log: log)
    }

    /// The live rows.
    func rows() async throws -> [String: Item] { try await store.sight(of: Simulation.table).rows }
}
