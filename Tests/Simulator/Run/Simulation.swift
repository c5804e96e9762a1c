import Backend
import Foundation
import HTTPMessage
import HTTPTypes
import SyncCore
import Synchronization
import TablesProtocol

/// One run of clients, proxies and a backend, drawn from a seed, on virtual time.
///
/// The clients of proxy N write column `mN`, other writers write column `e` at the backend, and all write
/// `s`. So a lost or repeated write shows in a column that only one side writes. Column `p` refers to the
/// item's parent.
package actor Simulation {
    let plan: Plan
    package nonisolated let trace = Trace()
    let random: SeededRandom
    let clock = ManualClock()
    let executor: SimulationExecutor
    let backend: TablesBackend
    /// Where the backend has its rows.
    let rows: SQLiteRowStorage
    let table = Simulation.table
    let rootFolder: String
    let proxies: [SimulatedProxy]
    let plantedBug: (any PlantedBug)?
    var model = Model()
    var faults: [String] = []
    /// The number of steps taken.
    private(set) var steps = 0
    /// The copy that the backend may be restored from.
    var copy: SQLiteRowStorage.Copy?
    /// Whether the backend was restored from a copy.
    var wasBackendRestored = false
    private var counter = 0

    /// The result of a run.
    package struct Outcome: Sendable {
        /// The violations: the number of the invariant, a sentence, and the trace.
        package var faults: [String]
        /// The number of steps taken.
        package var steps: Int
    }

    static let table: TableName = {
        guard let name = TableName("todoitem") else { preconditionFailure("a name of letters") }
        return name
    }()

    static let address: BackendAddress = {
        guard let address = BackendAddress("http://backend:1") else {
            preconditionFailure("an address of a host and a port")
        }
        return address
    }()

    package init(_ plan: Plan) throws { try self.init(plan, plantedBug: nil) }

    init(_ plan: Plan, plantedBug: (any PlantedBug)?) throws {
        (self.plan, self.plantedBug) = (plan, plantedBug)
        random = SeededRandom(plan.seed)
        executor = SimulationExecutor(order: plan.isShuffled ? SeededRandom(plan.seed &+ 5) : nil)
        let process = ProcessInfo.processInfo.processIdentifier
        let rootFolder = Self.root() + "understudy-simulation-\(process)-" + UUID().uuidString
        self.rootFolder = rootFolder
        let clock = clock
        var options = BackendOptions(flavour: plan.flavour)
        options.tables = [table: TableOptions()]
        rows = try SQLiteRowStorage()
        backend = try TablesBackend(
            on: rows, options: options,
            clock: {
                clock.advance(by: .milliseconds(1))
                return clock.now()
            }, random: SeededRandom(plan.seed &+ 1))
        let direct = InProcessTransport(backend)
        let (trace, table, executor) = (trace, table, executor)
        do {
            proxies = try (0..<plan.proxies).map { number in
                try SimulatedProxy(
                    number, plan: plan, rootFolder: rootFolder, table: table, clock: clock,
                    executor: executor,
                    direct: direct, trace: trace, plantedBug: plantedBug)
            }
        } catch {
            Self.remove(rootFolder)
            throw error
        }
    }

    private static func remove(_ rootFolder: String) {
        // A failed removal leaves a folder among the temporary ones.
        try? FileManager.default.removeItem(atPath: rootFolder)
    }

    /// The folder of the stores: in memory if possible.
    private static func root() -> String {
        let memory = "/dev/shm"
        return FileManager.default.isWritableFile(atPath: memory)
            ? memory + "/" : NSTemporaryDirectory()
    }

    /// Takes `steps` steps, then ends every fault and checks the end state. Removes the run's files in
    /// every case, because they may be in memory.
    package nonisolated func run(steps: Int) async throws -> Outcome {
        try await withTaskExecutorPreference(executor) {
            do {
                try await self.play(steps: steps)
            } catch {
                await self.end()
                throw error
            }
            return await self.end()
        }
    }

    private func play(steps: Int) async throws {
        for number in proxies.indices {
            proxies[number].transport.faultRate = random.pick([0, 0.1, 0.4])
            proxies[number].transport.setConcurrentAction { [weak self] in
                await self?.interfere(number)
            }
            if plan.hasParents { try await declareParents(proxies[number]) }
            proxies[number].start()
        }
        for _ in 0..<steps where faults.isEmpty {
            let proxy = random.pick(proxies)
            self.steps += 1
            do {
                try await step(proxy)
            } catch StoreError.full where proxy.isDiskFull {
                trace.note("p\(proxy.number) could not write")
            }
            if faults.isEmpty { try await plantedBug?.act(in: proxy, random: random) }
            // In automatic runs, a process may crash while another proxy's clients act.
            for proxy in proxies where proxy.transport.isDead { try await restart(proxy) }
            if faults.isEmpty { try await check(proxy) }
        }
        if faults.isEmpty { try await heal() }
    }

    @discardableResult
    private func end() async -> Outcome {
        for proxy in proxies { await proxy.close() }
        Self.remove(rootFolder)
        return Outcome(faults: faults, steps: steps)
    }

    private func restart(_ proxy: SimulatedProxy) async throws {
        trace.note("p\(proxy.number) starts again")
        do {
            try await proxy.restart()
        } catch let error as StoreError {
            fault(.file, "the store does not open: \(error)")
            return
        }
        for text in try await proxy.store.health.check() { fault(.file, text) }
        proxy.start()
    }

    /// Records a violation, with the part of the trace that mentions the item.
    func fault(_ invariant: Invariant, _ text: String, _ id: String? = nil) {
        let part = trace.lines.filter { line in
            id.map { line.contains($0) || !line.contains("/") } ?? true
        }
        let lines = ["\(invariant.rawValue): \(text)"] + part.suffix(id == nil ? 8 : 40)
        faults.append(lines.joined(separator: "\n    "))
    }

    func nextValue() -> String {
        counter += 1
        return String(counter)
    }
}

/// The events of a run, one line each, and the count of each kind of injected fault.
package final class Trace: Sendable {
    private let state = Mutex((lines: [String](), faults: [String: Int]()))

    package var lines: [String] { state.withLock { $0.lines } }
    package var faults: [String: Int] { state.withLock { $0.faults } }

    func note(_ line: String) { state.withLock { $0.lines.append(line) } }

    func fault(_ kind: String) {
        state.withLock {
            $0.faults[kind, default: 0] += 1
            $0.lines.append("  " + kind)
        }
    }
}

/// Runs in which the engines sync by themselves.
extension Simulation {
    /// Advances the time as a process sees it: to the next moment for which a task waits, and then runs
    /// every ready task.
    ///
    /// 1. Before each interval: check whether something is due and could be sent.
    /// 2. If so, and no request is made in the interval, its length counts as waiting. A request resets the
    ///    count.
    /// 3. Waiting for longer than the schedule may wait between two probes, and 10 s, is a fault.
    func pass(_ time: Duration) async throws {
        let end = clock.uptime() + time
        await executor.quiet()
        while clock.uptime() < end, faults.isEmpty {
            var before: [Int: Int] = [:]
            let began = clock.uptime()
            let requests = proxies.map(\.transport.requests)
            for proxy in proxies {
                if !proxy.transport.isClear { proxy.awaySince = proxy.awaySince ?? began }
                guard try await isWaiting(proxy) else { continue }
                before[proxy.number] = proxy.transport.requests
            }
            let next = min(clock.nextDeadline ?? end, end)
            clock.advance(by: max(next - began, .milliseconds(1)))
            await executor.quiet()
            for (proxy, requests) in zip(proxies, requests) {
                if proxy.transport.isClear, proxy.transport.requests != requests {
                    proxy.awaySince = nil
                }
                guard before[proxy.number] == proxy.transport.requests else {
                    proxy.waited = .zero
                    continue
                }
                proxy.waited += clock.uptime() - began
                let outage = proxy.awaySince.map { clock.uptime() - $0 } ?? .zero
                if proxy.waited > SyncLimits.longestProbeWait(outage: outage) + .seconds(10) {
                    fault(.liveness, "p\(proxy.number) tries nothing for \(proxy.waited)")
                }
            }
        }
    }

    /// Whether a proxy has a due operation that only its own schedule delays.
    private func isWaiting(_ proxy: SimulatedProxy) async throws -> Bool {
        guard proxy.transport.isClear, !proxy.isDiskFull,
            await proxy.engine.backendStatus.state != .signedOut
        else { return false }
        let now = clock.now()
        var seen: Set<String> = []
        return try await proxy.contents().open.contains { operation in
            // Of an item's operations only the first can be due.
            guard seen.insert(operation.itemID).inserted else { return false }
            switch operation.state {
            case .queued: return true
            case .waiting, .unknown: return operation.nextAttemptAt.map { $0 <= now } ?? false
            case .sending, .conflict, .quarantined, .done, .discarded, .collapsed: return false
            }
        }
    }

    /// Declares the column by which items refer to their parents.
    func declareParents(_ proxy: SimulatedProxy) async throws {
        let link = ParentLink(table: table, column: "p")
        _ = try await proxy.store.updateTable(table) { $0.parents = [link] }
    }
}

/// The backend is restored from an earlier copy.
extension Simulation {
    /// Copies the backend, or restores it from the copy.
    ///
    /// What the backend had applied since the copy is lost, which is not the proxies' fault: the expected
    /// values become those of the copy. Open operations were never acknowledged by the backend, so their
    /// values stay expected.
    func keepOrRestore() async throws {
        await executor.quiet()
        guard let copy else { return try keepCopy() }
        try restore(copy)
        self.copy = nil
        wasBackendRestored = true
        trace.note("others: the backend is put back")
        trace.fault("backend restored")
        var open: [String: [OperationSummary]] = [:]
        for proxy in proxies {
            // Connections to the old server end.
            proxy.transport.dropLate()
            proxy.answers = [:]
            for operation in try await proxy.operations(OperationState.open) {
                open[operation.itemID, default: []].append(operation)
            }
        }
        let rows = try remote()
        for id in model.ids {
            let row = rows.first { $0.id.text == id }
            expect(id, from: row, open: open[id] ?? [])
        }
    }

    private func expect(_ id: String, from row: Item?, open: [OperationSummary]) {
        if !open.contains(where: { $0.kind == .delete }) { model.deletedBy[id] = nil }
        // The other writers' column has the copy's value, or that of an insert that is still open.
        model.expectedValues[id]?["e"] = row?.columns["e"]?.string
        guard let row, !row.deleted else {
            // The item may come back after an item that refers to it.
            model.unordered.insert(id)
            if !open.contains(where: { $0.kind == .insert }) { model.undetermined.insert(id) }
            return
        }
        for column in (model.expectedValues[id] ?? [:]).keys {
            let isOpen = open.contains { $0.kind == .insert || $0.changedColumns.contains(column) }
            if !isOpen { model.expectedValues[id]?[column] = row.columns[column]?.string }
        }
    }

    private func keepCopy() throws {
        copy = try rows.copy()
        trace.note("others: the backend is copied")
    }

    private func restore(_ copy: SQLiteRowStorage.Copy) throws { try rows.restore(copy) }
}

/// Other writers at the backend.
extension Simulation {
    func insertElsewhere() {
        let id = "x\(nextValue())"
        let body = #"{"id":"\#(id)","m0":"0","m1":"0","m2":"0","e":"\#(id)","s":"0"}"#
        guard elsewhere("POST", nil, body) == 201 else { return }
        model.ids.append(id)
        for column in ["m0", "m1", "m2"] { model.recordWrite(by: -1, id, column, "0") }
        model.recordWrite(by: -1, id, "e", id)
    }

    func updateElsewhere() throws {
        guard let id = pickID() else { return }
        let row = try remote().first { $0.id.text == id && !$0.deleted }
        guard let row else { return }
        let value = nextValue()
        // The third generation replaces whole rows.
        let isWhole = plan.generation == .datasync
        var columns = isWhole ? row.columns : Columns()
        columns["e"] = .string(value)
        if random.happens(0.3) { columns["s"] = .string(value) }
        if isWhole { columns["id"] = .string(id) }
        let status = elsewhere(isWhole ? "PUT" : "PATCH", id, columns.text)
        if status == 200 { model.recordWrite(by: -1, id, "e", value) }
    }

    func deleteElsewhere() {
        guard let id = pickID(), elsewhere("DELETE", id, nil) < 300 else { return }
        model.undetermined.insert(id)
        model.recordWrite(by: -1, id)
    }

    /// Synchronous: nothing else happens between the write and its record in the model.
    private func elsewhere(_ method: String, _ id: String?, _ body: String?) -> Int {
        let path = "/tables/todoitem" + (id.map { "/\($0)" } ?? "")
        trace.note("others: \(method) \(id ?? "")")
        var request = Request.tables(method, path, body)
        if let name = HTTPField.Name("ZUMO-API-VERSION") {
            request.head.headerFields[name] =
                switch plan.generation {
                case .mobileServices: nil
                case .mobileApps: "2.0.0"
                case .datasync: "3.0.0"
                }
        }
        return backend.respond(to: request).head.status.code
    }
}

/// Reads of the backend that bypass the proxies. The time does not advance.
extension Simulation {
    /// The effects at the backend, in order.
    func effects() throws -> [Effect] { try backend.effects() }

    /// The rows at the backend, including tombstones.
    func remote() throws -> [Item] { try backend.items(in: table) }
}
