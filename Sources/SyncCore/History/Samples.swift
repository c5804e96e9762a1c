import Storage
import TablesProtocol

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
            "\(Self.select) WHERE at = ?", [sample.at.milliseconds], Self.sample)
        if var earlier {
            earlier.add(sample)
            sample = earlier
        }
        try transaction.run(
            "INSERT OR REPLACE INTO samples VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                sample.at.milliseconds, sample.depth, sample.largestDepth, sample.growth.accepted,
                sample.growth.applied, sample.growth.collapsed, sample.growth.discarded,
                JSONList.text(sample.growth.failures), sample.succeeded, sample.failed,
                sample.latencyMilliseconds, sample.answers.stored, JSONList.text(sample.reach),
            ])
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
            "\(Self.select) WHERE at >= ? ORDER BY at", [since.milliseconds], Self.sample)
    }

    private static let select = """
        SELECT at, depth, largest_depth, accepted, applied, collapsed, discarded, failures,
          succeeded, failed, latency_ms, answers, reach FROM samples
        """

    private static func bounded(_ number: Int) -> Int {
        min(max(number, 0), StoreLimits.largestSampledNumber)
    }

    private static func sample(_ row: StatementRow) -> Sample {
        var sample = Sample(
            at: Instant(milliseconds: row[0]), depth: bounded(row[1]), succeeded: bounded(row[8]),
            failed: bounded(row[9]), latencyMilliseconds: (row[10] as Int?).map { bounded($0) })
        sample.largestDepth = bounded(row[2])
        sample.growth.accepted = bounded(row[3])
        sample.growth.applied = bounded(row[4])
        sample.growth.collapsed = bounded(row[5])
        sample.growth.discarded = bounded(row[6])
        for (name, count) in JSONList.counts(row[7]) {
            guard let cause = Sample.FailureCause(rawValue: name) else { continue }
            sample.growth.failures[cause] = Int(count)
        }
        sample.answers = AnswerTimes(stored: row[11])
        for (name, time) in JSONList.counts(row[12]) {
            guard let state = Sample.Reach(rawValue: name) else { continue }
            sample.reach[state] = time
        }
        return sample
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
}
