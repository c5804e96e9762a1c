/// The times of a backend's answers as a histogram from which percentiles are read.
///
/// The classes grow by the fourth root of two, so a percentile is at most 19 % above the exact one, and then
/// rounded up to whole milliseconds. Of answers that took longer than the last bound, it is that bound.
/// Histograms of several minutes add up to that of the whole time, which percentiles do not.
public struct AnswerTimes: Sendable, Hashable {
    /// The upper bounds of the classes in milliseconds; a slower answer counts in the last one.
    public static let boundsMilliseconds: [Double] = {
        let growth = 2.0.squareRoot().squareRoot()
        var bounds: [Double] = []
        for place in 0..<SyncLimits.answerTimeClasses {
            // Each fourth bound is a power of two, so that rounding errors do not grow.
            bounds.append(place % 4 == 0 ? Double(1 << (place / 4)) : bounds[place - 1] * growth)
        }
        return bounds
    }()

    /// The number of answers in each class that has any.
    private(set) var counts: [Int: Int] = [:]

    /// No answers.
    public init() {}

    /// The number of answers.
    public var count: Int { counts.values.reduce(0, +) }

    /// Counts one answer.
    mutating func note(_ time: Duration) {
        let milliseconds = time / .milliseconds(1)
        let place = Self.boundsMilliseconds.firstIndex { milliseconds <= $0 }
        counts[place ?? Self.boundsMilliseconds.count - 1, default: 0] += 1
    }

    /// Adds the answers of another time.
    mutating func add(_ other: AnswerTimes) {
        counts.merge(other.counts) { $0 + $1 }
    }

    /// The time within which a share of the answers came: the upper bound of the class in which the last
    /// of them is, in whole milliseconds rounded up; nil without answers.
    /// - Parameter share: from 0 to 1; 0.95 for the 95th percentile.
    public func percentileMilliseconds(_ share: Double) -> Int? {
        let wanted = max(1, Int((Double(count) * share).rounded(.up)))
        var seen = 0
        for (place, count) in counts.sorted(by: { $0.key < $1.key }) {
            seen += count
            if seen >= wanted { return Int(Self.boundsMilliseconds[place].rounded(.up)) }
        }
        return nil
    }

    // MARK: As stored

    /// The classes as a JSON array of "class count".
    var stored: String {
        JSONList.text(counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" })
    }

    /// Reads ``stored``. What is not readable, since the store is damaged, is left out.
    init(stored text: String) {
        for (name, count) in JSONList.counts(text) {
            guard let place = Int(name), Self.boundsMilliseconds.indices.contains(place) else {
                continue
            }
            counts[place] = Int(count)
        }
    }
}
