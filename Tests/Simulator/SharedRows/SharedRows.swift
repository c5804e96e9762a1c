import Backend
import Foundation
import HTTPMessage
import HTTPTypes
import Logging
import SyncCore
import Synchronization
import TablesProtocol

/// What the backend said about an operation.
struct BackendAnswer {
    /// The name of the row.
    var name: String
    var at: Duration
    /// Whether it refused the operation for another reason than the row's version or presence.
    var isRefusal = false
    /// Whether it ever did so.
    var wasRefused = false
    var sentence: String?
    /// The row that the operation's row names.
    var parent: String?
}

/// One run of clients, other writers and a person who all write the same few rows, drawn from a seed.
///
/// Each row has a name that stays: its id, or, where the backend assigns the ids, the text in its column `t`.
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
    /// Draws what only some habits need, so that all other choices of a seed stay the same without them.
    let other: SeededRandom
    let clock = ManualClock()
    let backend: TablesBackend
    /// Where the backend has its rows.
    let storage: SQLiteRowStorage
    /// What answers the proxies: the backend, or what makes another one of it.
    private let server: any HTTPTransport
    let replica: LaggingReplica?
    let backendClock: BackendClock
    /// The first table, and perhaps the one of notes.
    let tables: [TableName]
    let rootFolder: String
    var proxies: [SharedRowsProxy] = []
    /// A client of each proxy that keeps the rows of the first table.
    var clients: [DownstreamClient] = []
    var history = ValueHistory()
    /// The events of the run, newest last.
    var trace: [String] = []
    package private(set) var faults: [String] = []
    /// The names of all rows.
    var names: [String] = []
    /// Items whose end state a person or a policy has decided.
    var givenUp: Set<String> = []
    /// The last acknowledged values of each item and column. For a deleted item, only that it is deleted.
    var expected: [String: [String: String]] = [:]
    /// What the backend last said about each operation.
    var answers: [OperationID: BackendAnswer] = [:]
    /// The rows of which the backend has refused an operation, for a reason other than a version.
    var refused: Set<String> = []
    /// The rows that a proxy has sent an insert of.
    var posted: Set<String> = []
    /// The row that a client of a proxy last made a note name, and whether that was inserted before at this
    /// proxy.
    var referred: [String: (parent: String, isParentFirst: Bool)] = [:]
    /// The proxy whose client inserted a row last.
    var provenance: [String: Int] = [:]
    /// When each row came into being at the backend.
    var bornAt: [String: Duration] = [:]
    /// When each item was last deleted at the backend.
    var deletedAt: [String: Duration] = [:]
    /// The last acknowledged values of items that were deleted afterwards, where the table was known to delete
    /// softly.
    var beneath: [String: [String: String]] = [:]
    /// The last acknowledged values of items that a client deleted and no other writer has changed since.
    var buried: [String: [String: String]] = [:]
    /// Those of items whose deletion a person has discarded since.
    var unburied: [String: [String: String]] = [:]
    /// The items that a client has inserted, until the backend has them.
    var inserting: Set<String> = []
    /// The items whose last write by a client is an undelete.
    var undeleting: Set<String> = []
    /// The versions that a proxy's own writes replaced, as their answers have told it, by proxy and item.
    var replacedVersions: [String: Set<String>] = [:]
    /// The versions that a write has replaced, by the operation that it was sent for.
    var replacing: [OperationID: (name: String, version: String)] = [:]
    /// The rows at the backend after the last change that was recorded.
    var present: [String: Item] = [:]
    /// The closed operations whose effect was looked for.
    var judged: Set<OperationID> = []
    /// When each item last came into being or back at the backend.
    var livedAt: [String: Duration] = [:]
    /// The versions that clients hold, by item.
    var held: [String: [HeldVersion]] = [:]
    /// How often each item was changed by another than a client that holds a version.
    var changes: [String: Int] = [:]
    /// The proxies and rows of which a proxy knew the backend's version at the end of a sync.
    var known: Set<String> = []
    /// The row that a client is about to insert, after a note that names it.
    var nextParent: String?
    /// The rows that an undelete brought back while a request was in flight.
    var revived: [String] = []
    /// The rows with integer ids whose insert has reached the backend and may have no verdict yet. No other
    /// writer changes them: what connects such a row with its insert is that it is equal.
    var unverdicted: Set<String> = []
    /// The rows that a client has replaced.
    var replaced: Set<String> = []
    /// The tables of the rows that the decision to keep both has inserted.
    var tablesOfCopies: [String: TableName] = [:]
    /// The ids that clients got for rows of a backend which assigns the ids.
    var provisional: [(proxy: Int, id: ItemID, name: String)] = []
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
    static let notes: TableName = {
        guard let name = TableName("notes") else { preconditionFailure("a name of letters") }
        return name
    }()

    package init(_ plan: SharedRowsPlan) throws {
        self.plan = plan
        random = SeededRandom(plan.seed)
        other = SeededRandom(plan.seed &+ 2)
        tables = [Simulation.table] + (plan.hasNotes ? [Self.notes] : [])
        let memory = "/dev/shm"
        let root = FileManager.default.isWritableFile(atPath: memory) ? memory : "/tmp"
        rootFolder = root + "/understudy-shared-" + UUID().uuidString
        try FileManager.default.createDirectory(
            atPath: rootFolder, withIntermediateDirectories: true)
        let clock = clock
        let backendClock = BackendClock(clock)
        self.backendClock = backendClock
        storage = try SQLiteRowStorage()
        let options = plan.backendOptions(tables)
        backend = try TablesBackend(
            on: storage, options: options, clock: { backendClock.next() },
            random: SeededRandom(plan.seed &+ 1))
        var server: any HTTPTransport = InProcessTransport(backend, date: { clock.now() })
        replica =
            plan.habits.contains(.laggingReplica)
            ? try LaggingReplica(
                server, of: storage, options, clock: clock, seed: plan.seed &+ 3) : nil
        server = replica ?? server
        if plan.hasSpellings {
            server = EqualIDs(
                base: server, backend: backend,
                isLowerCase: plan.habits.contains(.lowerCaseIDs))
        }
        self.server = server
    }

    /// Takes the steps and checks the end state. Removes the run's files.
    /// - Returns: the violations: sentences with the trace of the item.
    package func run(steps: Int) async throws -> [String] {
        defer { try? FileManager.default.removeItem(atPath: rootFolder) }
        for number in 0..<plan.proxies {
            proxies.append(try await proxy(number))
            clients.append(DownstreamClient(random.pick(DownstreamClient.Kind.allCases)))
        }
        if plan.habits.contains(.insertOnly) {
            try await insertOnly(steps: steps)
            for proxy in proxies { try? proxy.store.close() }
            return faults
        }
        for _ in 0..<(plan.habits.contains(.movingRows) ? 14 : 3) { insertElsewhere() }
        if random.happens(0.3) { try await refuseFirstPulls() }
        if random.happens(0.2) {
            for proxy in proxies {
                _ = await proxy.engine.sync()
                try await bringBack(proxy)
            }
        }
        if plan.hasIntegerIDs(tables[0]), random.happens(0.3) {
            try await insertHighIDElsewhere()
        }
        for proxy in proxies where random.happens(0.5) { changeFaultPlan(of: proxy) }
        for _ in 0..<steps where faults.isEmpty { try await step(random.pick(proxies)) }
        if faults.isEmpty { try await end() }
        for proxy in proxies { try? proxy.store.close() }
        return faults
    }

    private func proxy(_ number: Int) async throws -> SharedRowsProxy {
        let transport = SharedRowsTransport(
            server, random: SeededRandom(plan.seed &+ 10 &+ UInt64(number)), clock: clock, plan,
            onAnswer: { [weak self] in await self?.recordReplaced($0, $1, by: number) }
        ) { [weak self] sent, send throws(TransportError) in
            guard let self else { return try await send() }
            return try await self.around(sent, of: number, send)
        }
        let proxy = try SharedRowsProxy(
            number, plan, tables, rootFolder: rootFolder, transport: transport, clock: clock)
        let plan = plan
        let declaresIDs = random.happens(0.7)
        for table in tables {
            _ = try await proxy.store.updateTable(table) { settings in
                settings.conflictPolicy = plan.conflictPolicy
                settings.unconditionalPolicy = plan.unconditionalPolicy
                settings.preservesHistory = plan.preservesHistory
                if plan.hasIntegerIDs(table), declaresIDs { settings.idKind = .integer }
            }
        }
        return proxy
    }

    // MARK: The backend

    /// All rows at the backend by name, tombstones too.
    func remote() -> [String: Item] {
        var rows: [String: Item] = [:]
        for table in tables {
            for item in (try? backend.items(in: table)) ?? [] {
                let name = plan.name(of: item, in: table)
                guard let other = rows[name], !item.deleted else {
                    rows[name] = rows[name] ?? item
                    continue
                }
                rows[name] = item
                // A row that is inserted again after it was deleted has another id.
                if !other.deleted {
                    fault("\(name) is at the backend twice: \(other.id) and \(item.id)", name)
                }
            }
        }
        return rows
    }

    /// The table of a row.
    func table(of name: String) -> TableName {
        if let table = tablesOfCopies[name] { return table }
        return name.hasPrefix("n") || name.hasPrefix("m") ? Self.notes : Simulation.table
    }

    /// Whether a client of a proxy inserted a row first, rather than another writer.
    func isMadeHere(_ name: String) -> Bool { name.hasPrefix("i") || name.hasPrefix("n") }

    // MARK: Violations

    func note(_ line: String) { trace.append(line) }

    func fault(_ text: String, _ id: String? = nil) {
        let about = trace.filter { line in
            id.map {
                line.contains(" \($0) ") || line.contains(" \($0):") || line.contains("\"\($0)\"")
            } ?? true
        }
        faults.append(
            "seed \(plan.seed) (\(plan)): \(text)\n    "
                + about.suffix(30).joined(separator: "\n    "))
    }

    /// A value that no writer has written before.
    /// - Parameter isRefusable: whether it may be one that a script refuses.
    func value(isRefusable: Bool = false) -> String {
        counter += 1
        // A row that a script has changed does not show whose insert it is.
        if plan.habits.contains(.refusals), isRefusable, other.happens(0.25) {
            return "\"no\(counter)\""
        }
        let isTrimmed = plan.habits.contains(.scripts) && !plan.habits.contains(.integerIDs)
        let spaces = isTrimmed && random.happens(0.3) ? " " : ""
        return "\"\(spaces)v\(counter)\(spaces)\""
    }

    /// A name for a new row.
    func newName(_ prefix: String) -> String {
        counter += 1
        return "\(prefix)\(counter)"
    }
}

/// The clock of a run's backend: each reading is a millisecond later.
final class BackendClock: Sendable {
    private let clock: ManualClock
    private let late = Mutex(Duration.zero)

    init(_ clock: ManualClock) { self.clock = clock }

    func next() -> Instant {
        clock.advance(by: .milliseconds(1))
        let late = late.withLock { $0 }
        return Instant(milliseconds: clock.now().milliseconds - late.wholeMilliseconds)
    }

    /// Sets the clock back.
    func beLate(by duration: Duration) { late.withLock { $0 = duration } }
}
