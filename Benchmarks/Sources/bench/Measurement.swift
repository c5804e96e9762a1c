import Foundation

/// One line of the table: a piece of work, in interleaved rounds with what it is measured against.
struct Measurement: Codable {
    /// One round. `theirs` and `ratio` are absent where there is nothing to compare with.
    struct Round: Codable {
        var ours: Double
        var theirs: Double?
        var ratio: Double?
    }

    /// The row and its variant, such as `1.c32`: the key in thresholds.json.
    var id: String
    var work: String
    var against: String
    /// Of both sides' figures.
    var unit: String
    var rounds: [Round]
    /// What a reader has to know about this run's figures.
    var note: String?

    /// What the threshold is for: the median of the rounds' ratios, or of our figures.
    var judged: Double { Self.median(rounds.map { $0.ratio ?? $0.ours }) }
    var ours: Double { Self.median(rounds.map(\.ours)) }
    var theirs: Double? {
        let all = rounds.compactMap(\.theirs)
        return all.isEmpty ? nil : Self.median(all)
    }
    /// The lowest and highest of what is judged.
    var spread: (low: Double, high: Double) {
        let all = rounds.map { $0.ratio ?? $0.ours }
        return (all.min() ?? 0, all.max() ?? 0)
    }

    static func median(_ values: [Double]) -> Double {
        let sorted = values.sorted()
        guard !sorted.isEmpty else { return .nan }
        let middle = sorted.count / 2
        return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
    }
}

/// How two figures make a ratio.
enum Comparison {
    case oursByTheirs
    /// For rates of which the ratio of times is asked, and times of which that of rates is.
    case theirsByOurs

    func ratio(_ ours: Double, _ theirs: Double) -> Double {
        switch self {
        case .oursByTheirs: ours / theirs
        case .theirsByOurs: theirs / ours
        }
    }
}

/// Measures in rounds, one side after the other in each, so that whatever the machine does meets
/// both.
func interleaved(
    _ rounds: Int, _ comparison: Comparison, ours: () throws -> Double, theirs: () throws -> Double
) throws -> [Measurement.Round] {
    try (0..<rounds).map { _ in
        let (a, b) = (try ours(), try theirs())
        return Measurement.Round(ours: a, theirs: b, ratio: comparison.ratio(a, b))
    }
}
