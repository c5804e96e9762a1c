import Backend
import Foundation
import HTTPMessage
import HTTPTypes
import Logging
package import SyncCore
import TablesProtocol

/// One run of clients, other writers and a person who all write the same few rows, drawn from a seed.
///
/// 1. Clients use every verb at one or two proxies. Other writers write at the backend, also while a
///    request is in flight. The person takes every kind of decision, some of them about an outdated
///    conflict.
/// 2. The network loses answers and requests. The backend ignores filters, temporarily has no table, lists
///    a row that cannot be applied, or another server answers instead.
/// 3. After each request, all rows at the backend are compared with those before it (``ValueHistory``).
/// 4. At the end all faults stop. Every acknowledged write is at the backend, open or given up, and both
///    sides have the same rows.
package actor SharedRows {
    let plan: SharedRowsPlan
    let random: SeededRandom
    let clock = ManualClock()
    let backend: TablesBackend
    let table = Simulation.table
    let rootFolder: String
    var proxies: [SharedRowsProxy] = []
    var history = ValueHistory()
    /// The events of the run, newest last.
    var trace: [String] = []
    package private(set) var faults: [String] = []
    var ids: [String] = []
    /// Items whose end state a person or a policy has decided.
    var givenUp: Set<String> = []
    /// The last acknowledged values of each item and column. For a deleted item, only that it is deleted.
    var expected: [String: [String: String]] = [:]
    /// Conflicts as the person saw them earlier.
    var earlierConflicts: [(proxy: Int, detail: ConflictDetail)] = []
    private var counter = 0
    /// Whether the backend ever ignored filters or hid rows.
    var hasAnsweredWrongly = false
    /// Whether another side acts while a request is in flight. Set at the end to prevent that.
    var isInterfering = false
    /// Whether it acts while a page is requested. The page before may be applied at the same moment, so a
    /// row may change between a client's read and its write.
    var isBesideRead = false

    static let columns = ["a", "b", "c", "o"]
    /// The prefix of the ids that clients of the proxies make.
    static let madeHere = "i"

    package init(_ plan: SharedRowsPlan) throws {
        self.plan = plan
        random = SeededRandom(plan.seed)
        let memory = "/dev/shm"
        let root = FileManager.default.isWritableFile(atPath: memory) ? memory : "/tmp"
        rootFolder = root + "/understudy-shared-" + UUID().uuidString
        try FileManager.default.createDirectory(
            atPath: rootFolder, withIntermediateDirectories: true)
        var options = BackendOptions(flavour: plan.flavour)
        options.tables = [table: TableOptions(softDelete: plan.deletesSoftly)]
        // A counter would start again for a row that was deleted hard, and give another row the same
        // version.
        options.versions = .random
        let clock = clock
        backend = try TablesBackend(
            options: options,
            clock: {
                clock.advance(by: .milliseconds(1))
                return clock.now()
            }, random: SeededRandom(plan.seed &+ 1))
    }

    /// Takes the steps and checks the end state. Removes the run's files.
    /// - Parameter bug: the bug that is planted in the product.
    /// - Returns: the violations: sentences with the trace of the item.
    package func run(steps: Int, bug: ProductBug? = nil) async throws -> [String] {
        defer { try? FileManager.default.removeItem(atPath: rootFolder) }
        for number in 0..<plan.proxies {
            proxies.append(try await proxy(number, bug))
        }
        for _ in 0..<3 { insertElsewhere() }
        if random.happens(0.3) { try await refuseFirstPulls() }
        for proxy in proxies where random.happens(0.5) { changeFaultPlan(of: proxy) }
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
            number, rootFolder: rootFolder, transport: transport, clock: clock,
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

    /// Sends a request and records what it changed. Other writers may act while it is in flight.
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
        recordChanges(
            since: before, by: proxy,
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
            default: try await actAsPerson(random.pick(proxies))
            }
        } catch {
            fault("a step failed: \(error)")
        }
    }

    /// Compares all rows with those before and records the changes.
    func recordChanges(since before: [String: Item], by side: Int, what: String) {
        let after = remote()
        for id in Set(before.keys).union(after.keys).sorted() {
            let (old, new) = (ValueHistory.row(before[id]), ValueHistory.row(after[id]))
            if old == new { continue }
            note("\(side < 0 ? "others" : "p\(side)") \(what): \(id) \(old) -> \(new)")
            let found = history.recordChange(
                id, from: old, to: new, by: side, policyWins: plan.letsLocalWin,
                policyRepeats: plan.repeatsLocal)
            for text in found { fault(text, id) }
            if side < 0 { stopExpecting(id, old, new) }
        }
    }

    /// Values that another writer has replaced are not expected any more.
    private func stopExpecting(_ id: String, _ old: ValueHistory.Row, _ new: ValueHistory.Row) {
        expected[id]?[ValueHistory.deleted] = nil
        for name in Self.columns where old[name] != new[name] { expected[id]?[name] = nil }
        if new[ValueHistory.deleted] == "true" { expected[id] = nil }
    }

    // MARK: Violations

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

/// One proxy of such a run.
final class SharedRowsProxy: Sendable {
    let number: Int
    let store: Store
    let engine: SyncEngine
    let transport: SharedRowsTransport

    init(
        _ number: Int, rootFolder: String, transport: SharedRowsTransport, clock: ManualClock,
        ids: SeededRandom, bug: ProductBug?
    ) throws {
        self.number = number
        self.transport = transport
        store = try Store(
            at: "\(rootFolder)/\(number).sqlite", identity: "anonymous", clock: clock, ids: ids,
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

    /// The rows that are not deleted.
    func rows() async throws -> [String: Item] {
        try await store.contents(of: Simulation.table).rows
    }
}
