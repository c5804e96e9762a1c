import Storage
public import TablesProtocol

/// The minute samples, and the counters that they are taken from: `samples`, `ledger` and `failures`.
struct SampleLog {
    let transaction: Transaction

    /// Stores a minute's sample with what the ledger grew by since the sample before. A second sample of the
    /// same minute, as after the clock was set back, is added to the first.
    func save(_ sample: Sample) throws {
        var sample = sample
        sample.growth = try growth()
        try transaction.run("UPDATE ledger SET sampled = value")
        try transaction.run("UPDATE failures SET sampled = value")
        let earlier = try transaction.first(
            "\(Self.select) WHERE at = ?", [sample.at], Self.sample)
        if var earlier {
            earlier.add(sample)
            sample = earlier
        }
        try transaction.run(Sample.stored.replace, Sample.stored.inserted(sample))
    }

    /// What the ledger and the counters of failures grew by since the last sample. Each number is bounded, as
    /// those of ``since(_:)`` are: another program may have written the file.
    func growth() throws -> Sample.Growth {
        var growth = Sample.Growth()
        let ledger = try transaction.all("SELECT name, value - sampled FROM ledger") {
            (name: $0[0] as String, count: Self.bounded($0[1]))
        }
        for (name, count) in ledger {
            switch name {
            case "accepted": growth.accepted = count
            case "done": growth.applied = count
            case "collapsed": growth.collapsed = count
            case "discarded": growth.discarded = count
            default: break
            }
        }
        let failures = try transaction.all(
            "SELECT cause, value - sampled FROM failures WHERE value > sampled"
        ) { (cause: Sample.FailureCause(rawValue: $0[0]), count: Self.bounded($0[1])) }
        for case (let cause?, let count) in failures { growth.failures[cause] = count }
        return growth
    }

    /// The samples from a time on, oldest first.
    func since(_ since: Instant) throws -> [Sample] {
        try transaction.all(
            "\(Self.select) WHERE at >= ? ORDER BY at", [since], Self.sample)
    }

    private static let select = "SELECT \(Sample.stored.names) FROM samples"

    private static func bounded(_ number: Int) -> Int {
        min(max(number, 0), StoreLimits.largestSampledNumber)
    }

    private static func sample(_ row: StatementRow) -> Sample? {
        guard var sample = Sample(row) else { return nil }
        for number in Sample.numbers {
            sample[keyPath: number] = bounded(sample[keyPath: number])
        }
        sample.latencyMilliseconds = sample.latencyMilliseconds.map(bounded)
        return sample
    }
}

extension Sample: Stored {
    static let stored = StoredColumns<Sample>(
        "samples",
        blank: Sample(at: .earliest, depth: 0, succeeded: 0, failed: 0, latencyMilliseconds: nil),
        [
            .init("at", \.at, .key), .init("depth", \.depth),
            .init("largest_depth", \.largestDepth), .init("accepted", \.growth.accepted),
            .init("applied", \.growth.applied), .init("collapsed", \.growth.collapsed),
            .init("discarded", \.growth.discarded),
            .init("failures", get: { JSONList.text($0.growth.failures) }) {
                $0.growth.failures = JSONList.counts($1).mapValues { Int($0) }
            },
            .init("succeeded", \.succeeded), .init("failed", \.failed),
            .init("latency_ms", \.latencyMilliseconds),
            .init("answers", get: \.answers.stored) { $0.answers = AnswerTimes(stored: $1) },
            .init("reach", get: { JSONList.text($0.reach) }) { $0.reach = JSONList.counts($1) },
        ])

    /// The columns whose numbers another program may have written beyond what a sample can have.
    fileprivate static var numbers: [WritableKeyPath<Sample, Int>] {
        [
            \.depth, \.largestDepth, \.growth.accepted, \.growth.applied, \.growth.collapsed,
            \.growth.discarded, \.succeeded, \.failed,
        ]
    }
}

extension JSONList {
    /// Counts by name as a JSON array of "name count", in the order of the names.
    static func text<Name: RawRepresentable<String>>(_ counts: [Name: some BinaryInteger]) -> String
    {
        text(counts.map { "\($0.key.rawValue) \($0.value)" }.sorted())
    }

    /// Reads an array of "name count". What is not readable, since the store is damaged, is left out, and a
    /// count is at most ``StoreLimits/largestSampledNumber``.
    static func counts(_ text: String) -> [(name: String, count: Int64)] {
        names(text).compactMap { pair in
            let parts = pair.split(separator: " ")
            guard parts.count == 2, let count = Int64(parts[1]), count >= 0 else { return nil }
            return (String(parts[0]), min(count, Int64(StoreLimits.largestSampledNumber)))
        }
    }

    /// The same by the names that this version knows.
    static func counts<Name: RawRepresentable<String>>(_ text: String) -> [Name: Int64] {
        let known = counts(text).compactMap { pair in
            Name(rawValue: pair.name).map { ($0, pair.count) }
        }
        return Dictionary(known) { $1 }
    }
}

/// The sync activity of a minute, or of a longer step of time.
public struct Sample: Sendable, Hashable {
    /// Whether and how the backend could be used.
    public enum Reach: String, Codable, Sendable, Hashable, CaseIterable {
        case online, degraded, offline, signedOut, portal, notTables
        /// Nothing was asked of it yet.
        case notAsked
        /// A person has switched it off: the program works offline.
        case switchedOff
    }

    /// Why a request for an operation did not end with success. `Schema.sql` decides it.
    public enum FailureCause: String, Codable, Sendable, Hashable, CaseIterable {
        /// The backend's row has changed and a decision is needed.
        case conflict
        /// The backend refused the operation.
        case refused
        /// No complete answer came.
        case noAnswer
        case signIn
        /// The backend asks for a later request: 429, 502, 503, 504.
        case unavailable
        /// The backend failed: any other 5xx, and 408.
        case serverError
        /// Any other answer that decided nothing, such as a page that is not of a /tables backend.
        case unusable
    }

    /// What the ledger and the counters of failures grew by.
    public struct Growth: Sendable, Hashable {
        public var accepted = 0
        public var applied = 0
        /// Writes that were merged into others or had no effect.
        public var collapsed = 0
        public var discarded = 0
        /// Requests for operations that did not end with success, by cause.
        public var failures: [FailureCause: Int] = [:]

        public init() {}

        /// Adds what came in another time.
        mutating func add(_ other: Growth) {
            accepted += other.accepted
            applied += other.applied
            collapsed += other.collapsed
            discarded += other.discarded
            failures.merge(other.failures) { $0 + $1 }
        }
    }

    /// When the minute or step began.
    public var at: Instant
    /// The number of open operations at its end.
    public var depth: Int
    /// The largest ``depth`` of its minutes.
    public var largestDepth: Int
    /// What the ledger grew by.
    public var growth = Growth()
    /// The number of requests that succeeded, those of pulls and probes too.
    public var succeeded: Int
    public var failed: Int
    /// The mean time of an answer, in milliseconds; nil if there was none.
    public var latencyMilliseconds: Int?
    public var answers = AnswerTimes()
    /// How long the backend was in which state, in milliseconds.
    public var reach: [Reach: Int64] = [:]

    public init(at: Instant, depth: Int, succeeded: Int, failed: Int, latencyMilliseconds: Int?) {
        self.at = at
        self.depth = depth
        largestDepth = depth
        self.succeeded = succeeded
        self.failed = failed
        self.latencyMilliseconds = latencyMilliseconds
    }

    mutating func add(_ later: Sample) {
        var mean = AnswerMean()
        mean.add(self)
        mean.add(later)
        latencyMilliseconds = mean.milliseconds
        depth = later.depth
        largestDepth = max(largestDepth, later.largestDepth)
        growth.add(later.growth)
        succeeded += later.succeeded
        failed += later.failed
        answers.add(later.answers)
        reach.merge(later.reach) { $0 + $1 }
    }
}

/// The mean time of the answers of several samples. It divides once, at the end: a mean that is rounded down
/// with each sample falls further with each of them.
private struct AnswerMean {
    // Not an integer: where a store's numbers are damaged, the product may be beyond the largest one.
    private var time = 0.0
    private var count = 0

    mutating func add(_ sample: Sample) {
        guard let mean = sample.latencyMilliseconds else { return }
        // A sample of version 1 has no times of answers, only the numbers of requests.
        let classed = sample.answers.count
        let answers = max(classed > 0 ? classed : sample.succeeded + sample.failed, 1)
        time += Double(mean) * Double(answers)
        count += answers
    }

    var milliseconds: Int? { count > 0 ? Int(time / Double(count)) : nil }
}

extension [Sample] {
    /// The samples added up to steps of time, which begin at whole multiples of their length since
    /// 1970. Steps without a sample are left out.
    /// - Parameter seconds: the length of a step.
    func steps(of seconds: Int) -> [Sample] {
        var steps: [Sample] = []
        var mean = AnswerMean()
        for var sample in self {
            sample.at = sample.at.roundedDown(toSeconds: seconds)
            if let last = steps.indices.last, steps[last].at == sample.at {
                mean.add(sample)
                steps[last].add(sample)
                steps[last].latencyMilliseconds = mean.milliseconds
            } else {
                mean = AnswerMean()
                mean.add(sample)
                steps.append(sample)
            }
        }
        return steps
    }
}

extension Instant {
    /// The last whole multiple of some seconds since 1970 that is not later.
    func roundedDown(toSeconds seconds: Int) -> Instant {
        let length = Int64(seconds) * 1000
        let beyond = milliseconds % length
        return Instant(milliseconds: milliseconds - (beyond < 0 ? beyond + length : beyond))
    }
}
