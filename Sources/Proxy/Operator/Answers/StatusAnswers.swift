package import Platform
package import SyncCore
package import TablesProtocol

// Answers about the status of a store, and about the process.
extension Answers {
    /// Everything a status line needs.
    package struct Status: Codable, Sendable, Hashable {
        /// Whose it is: `anonymous`, or the key of a user.
        package let identity: String
        /// Version of Understudy.
        package let version: String
        package let startedAt: Instant
        package let addresses: Addresses?
        package let backend: BackendStatus
        package let mode: Mode
        package let queue: QueueCounts
        package let ledger: Ledger
        package let tables: [TableStatus]
        /// Tables that clients of any identity have read and no sync has copied yet.
        package let wantedTables: [String]
        package let lastSync: Instant?
        package let nextSync: Instant?
        package let currentRun: Run?
        package let warnings: [String]
        /// Requests refused by the guard since the start.
        package let rejectedRequests: Int
        package let identities: [String]
        /// Changes that wait because they were written without a sign-in; null without any.
        package let unsigned: Unsigned?
    }

    /// Changes that were written without a sign-in, which the backend refuses with 401.
    package struct Unsigned: Codable, Sendable, Hashable {
        package let operations: Int
        /// The only user since, to whom they can be given; null if there was none, or several.
        package let identity: String?
        /// One sentence for a person.
        package let sentence: String
    }

    /// Where this Understudy is found; null in what a command reads while none runs.
    package struct Addresses: Codable, Sendable, Hashable {
        /// Where clients find /tables.
        package let clients: String
        /// Where the dashboard is; another port with --dashboard-listen.
        package let dashboard: String
    }

    /// Whether work is offline by choice. offline: chosen by a person; nothing is sent until `until` (null: until changed).
    package struct Mode: Codable, Sendable, Hashable {
        package let mode: Word
        package let until: Instant?

        /// Whether anything is sent.
        package enum Word: String, Codable, Sendable, Hashable, CaseIterable {
            case online, offline
        }
    }

    /// What became of every write that was ever acknowledged.
    package struct Ledger: Codable, Sendable, Hashable {
        package let accepted: Int64
        package let applied: Int64
        package let collapsed: Int64
        package let discarded: Int64
        package let queued: Int
        package let waiting: Int
        package let sending: Int
        package let unknown: Int
        package let conflict: Int
        package let quarantined: Int
        /// accepted = all the others together. False is an alarm.
        package let balances: Bool
    }

    /// How the engine syncs.
    package struct Settings: Codable, Sendable, Hashable {
        /// What starts a sync. `manual` is always among them.
        package let triggers: [Trigger]
        package let intervalSeconds: Int64
        /// Rest after a write before it is pushed.
        package let debounceMs: Int64
        /// Operations in flight at once.
        package let parallelism: Int
        /// Own failures of an operation until it is quarantined.
        package let maxAttempts: Int
        /// Rows asked for in one page of a pull.
        package let pageRows: Int
        /// Tables that are pulled at every sync, beside those the store holds.
        package let tables: [String]
    }

    /// One minute, or one step of `stepSeconds`. A time without a sample is one in which Understudy did not
    /// run. Samples of minutes are kept 7 days.
    package struct Sample: Codable, Sendable, Hashable {
        package let at: Instant
        /// Open operations at the end.
        package let depth: Int
        /// The most of the minutes.
        package let largestDepth: Int
        /// What `accepted` of the ledger grew by.
        package let accepted: Int
        /// What `applied` of the ledger grew by: operations that the backend has.
        package let applied: Int
        package let collapsed: Int
        package let discarded: Int
        /// Requests for operations that did not end with success; causes without any are left out.
        package let failures: [FailureCount]
        /// Requests that the backend answered with success, those of pulls and probes too.
        package let succeeded: Int
        /// All other requests.
        package let failed: Int
        /// Mean time of an answer of the backend.
        package let latencyMs: Int?
        /// Half of the answers came within this time, which is at most 19 % too high and rounded up to whole
        /// milliseconds.
        package let p50Ms: Int?
        /// The same for 95 % of them.
        package let p95Ms: Int?
        /// The same for 99 % of them.
        package let p99Ms: Int?
        /// How long the backend was in which state; states without time are left out.
        package let reach: [ReachTime]
    }

    /// How many requests failed for one cause.
    package struct FailureCount: Codable, Sendable, Hashable {
        /// conflict: a decision is needed. refused: by the backend. unavailable: 429, 502, 503 or 504.
        /// serverError: any other 5xx, and 408. unusable: any other answer that decided nothing.
        package let cause: SyncCore.Sample.FailureCause
        package let count: Int
    }

    /// How long the backend was in one state.
    package struct ReachTime: Codable, Sendable, Hashable {
        /// As `backend.state`; switchedOff: a person works offline.
        package let state: SyncCore.Sample.Reach
        /// Milliseconds.
        package let ms: Int64
    }

    /// The refusals for one reason.
    package struct Rejection: Codable, Sendable, Hashable {
        /// Stable word, for example `host`, `cross-origin`, `sign-in-required`, `unreadable`.
        package let reason: String
        package let status: Int
        package let count: Int
        package let lastAt: Instant
        /// The Host or Origin of the last one, cut at 200 bytes.
        package let lastDetail: String?
        /// One sentence for a person.
        package let sentence: String
    }

    /// The webhook that is told when a person is needed, and the last message.
    package struct NotificationState: Codable, Sendable, Hashable {
        /// Scheme and host of the webhook; null without one.
        package let target: String?
        package let last: NotificationDelivery?
    }

    /// A message that was sent, or could not be sent.
    package struct NotificationDelivery: Codable, Sendable, Hashable {
        package let at: Instant
        package let isTest: Bool
        package let isDelivered: Bool
        /// What came back, in one sentence.
        package let result: String
    }

    /// The `data` of one server-sent event; fetch what it names. Its event name is `item`, `operation`,
    /// `run`, `status` or `conflict`; `reset` means: read everything again.
    package struct EventData: Codable, Sendable, Hashable {
        package let id: Int64
        /// Whose it is: `anonymous`, or the key of a user.
        package let identity: String
        package let table: String?
        package let itemId: String?
        package let opId: String?
    }

    /// Whether the process does its work.
    package struct Health: Codable, Sendable, Hashable {
        package let status: State
        package let checks: [Check]

        /// The result of all checks.
        package enum State: String, Codable, Sendable, Hashable, CaseIterable { case ok, failing }

        /// The result of one check.
        package struct Check: Codable, Sendable, Hashable {
            package let name: String
            package let ok: Bool
            package let detail: String
        }
    }

    /// The process of the running Understudy, without secrets.
    package struct ProcessReport: Codable, Sendable, Hashable {
        package let version: String
        package let startedAt: Instant
        package let libraries: [Library]
        /// Those that do not have their default.
        package let settings: [Setting]
        /// Its last lines, at most 500, the oldest first.
        package let log: [String]
    }

    package typealias Library = Platform.Library

    /// A setting that does not have its default.
    package struct Setting: Codable, Sendable, Hashable {
        /// As the configuration file has it.
        package let name: String
        /// Without secrets.
        package let values: [String]
        /// The place of each value: a flag, a variable, or a file with its line.
        package let origins: [String]

        /// Makes a setting from its parts.
        package init(name: String, values: [String], origins: [String]) {
            self.name = name
            self.values = values
            self.origins = origins
        }
    }
}

extension Answers.Addresses {
    init(_ addresses: ListeningAddresses) {
        self.init(
            clients: "http://\(addresses.clients)", dashboard: "http://\(addresses.dashboard)/-/")
    }
}

extension Answers.Mode {
    init(_ mode: EngineStatus.Mode) {
        switch mode {
        case .online: self.init(mode: .online, until: nil)
        case .offline(let until): self.init(mode: .offline, until: until)
        }
    }
}

extension Answers.Ledger {
    init(_ ledger: SyncCore.Ledger) {
        let queue = ledger.queue
        self.init(
            accepted: ledger.accepted, applied: ledger.applied, collapsed: ledger.collapsed,
            discarded: ledger.discarded, queued: queue.queued, waiting: queue.waiting,
            sending: queue.sending, unknown: queue.unknown, conflict: queue.conflict,
            quarantined: queue.quarantined, balances: ledger.balances)
    }
}

extension Answers.Settings {
    init(_ settings: SyncSettings) {
        self.init(
            triggers: settings.triggers.sorted { $0.rawValue < $1.rawValue },
            intervalSeconds: settings.interval.components.seconds,
            debounceMs: settings.debounce.wholeMilliseconds, parallelism: settings.parallelism,
            maxAttempts: settings.maxAttempts, pageRows: settings.pageRows,
            tables: settings.tables.map(\.text))
    }
}

extension Answers.Sample {
    init(_ sample: SyncCore.Sample) {
        let growth = sample.growth
        self.init(
            at: sample.at, depth: sample.depth, largestDepth: sample.largestDepth,
            accepted: growth.accepted, applied: growth.applied, collapsed: growth.collapsed,
            discarded: growth.discarded,
            failures: SyncCore.Sample.FailureCause.allCases.compactMap { cause in
                growth.failures[cause].map { .init(cause: cause, count: $0) }
            },
            succeeded: sample.succeeded, failed: sample.failed,
            latencyMs: sample.latencyMilliseconds,
            p50Ms: sample.answers.percentileMilliseconds(0.5),
            p95Ms: sample.answers.percentileMilliseconds(0.95),
            p99Ms: sample.answers.percentileMilliseconds(0.99),
            reach: SyncCore.Sample.Reach.allCases.compactMap { state in
                sample.reach[state].map { .init(state: state, ms: $0) }
            })
    }
}

extension Answers.Rejection {
    init(_ entry: RejectionLog.Entry) {
        self.init(
            reason: entry.reason.word, status: entry.reason.status, count: entry.count,
            lastAt: entry.lastAt, lastDetail: entry.lastDetail, sentence: entry.reason.sentence)
    }
}

extension Answers.EventData {
    init(_ event: Event) {
        self.init(
            id: event.id, identity: event.identity, table: event.table, itemId: event.itemID,
            opId: event.operationID)
    }
}
