/// A regular expression of `matchesPattern`. Matching takes time proportional to pattern times text at
/// most.
///
/// It is a nondeterministic automaton that is in several states at once and never backtracks (Thompson).
/// Back-references and look-around need backtracking and are refused. Texts are matched as UTF-16 units, as
/// in .NET and JavaScript.
struct Pattern: Sendable {
    /// Why a pattern is refused.
    struct Refusal: Error, Hashable {
        /// One sentence without its full stop.
        let reason: String
    }

    /// One step of the automaton.
    enum Step: Sendable {
        /// Matches one unit of a set.
        case unit(UnitSet)
        /// Continues at both steps.
        case split(Int, Int)
        case jump(Int)
        case assertion(Assertion)
        case match
    }

    /// A condition on the position between two units.
    enum Assertion: Sendable {
        case start, end, wordBoundary, noWordBoundary
    }

    /// A set of UTF-16 units.
    struct UnitSet: Sendable {
        var ranges: [ClosedRange<UInt16>]
        var isNegated = false

        func contains(_ unit: UInt16) -> Bool {
            ranges.contains { $0.contains(unit) } != isNegated
        }
    }

    let steps: [Step]

    /// Parses a pattern.
    init(_ text: String) throws(Refusal) {
        guard text.utf16.count <= Limits.patternUnits else {
            throw Refusal(reason: "it is longer than \(Limits.patternUnits) characters")
        }
        var parser = PatternParser(text)
        var writer = PatternWriter()
        try writer.write(try parser.whole())
        steps = writer.steps + [.match]
    }

    /// Whether some part of the text matches; nil if that takes more than ``Limits/patternWork`` steps.
    func matches(_ text: String) -> Bool? {
        var work = 0
        return matches(text, work: &work)
    }

    /// The same, and adds the number of steps to `total`.
    func matches(_ text: String, work total: inout Int) -> Bool? {
        let units = Array(text.utf16)
        var work = Limits.patternWork
        defer { total += Limits.patternWork - work }
        var current = States(count: steps.count)
        var next = States(count: steps.count)
        for place in 0...units.count {
            // A match may begin at every position.
            add(0, at: place, of: units, to: &current, &work)
            if current.hasMatch { return true }
            if work <= 0 { return nil }
            if place == units.count { break }
            for state in current.list {
                guard case .unit(let set) = steps[state], set.contains(units[place]) else {
                    continue
                }
                add(state + 1, at: place + 1, of: units, to: &next, &work)
            }
            work -= current.list.count
            if next.hasMatch { return true }
            swap(&current, &next)
            next.clear()
        }
        return false
    }

    /// The states that the automaton is in.
    private struct States {
        var list: [Int] = []
        var hasMatch = false
        private var isIn: [Bool]

        init(count: Int) { isIn = Array(repeating: false, count: count) }

        /// Adds a state; false if it was added before.
        mutating func insert(_ state: Int) -> Bool {
            if isIn[state] { return false }
            isIn[state] = true
            list.append(state)
            return true
        }

        mutating func clear() {
            for state in list { isIn[state] = false }
            list.removeAll(keepingCapacity: true)
            hasMatch = false
        }
    }

    /// Adds a state and all states that are reached from it without a unit.
    private func add(
        _ first: Int, at place: Int, of units: [UInt16], to states: inout States, _ work: inout Int
    ) {
        var open = [first]
        while let state = open.popLast() {
            work -= 1
            guard states.insert(state) else { continue }
            switch steps[state] {
            case .unit: break
            case .split(let one, let other): open += [other, one]
            case .jump(let target): open.append(target)
            case .assertion(let assertion):
                if Self.holds(assertion, at: place, of: units) { open.append(state + 1) }
            case .match: states.hasMatch = true
            }
        }
    }

    private static func holds(_ assertion: Assertion, at place: Int, of units: [UInt16]) -> Bool {
        switch assertion {
        case .start: return place == 0
        case .end: return place == units.count
        case .wordBoundary, .noWordBoundary:
            let before = place > 0 && UnitSet.word.contains(units[place - 1])
            let after = place < units.count && UnitSet.word.contains(units[place])
            return (before != after) == (assertion == .wordBoundary)
        }
    }
}

extension Pattern.UnitSet {
    /// The sets of the escapes `\d`, `\w` and `\s`. The capital letters stand for their complements.
    static let digit = Self(ranges: [0x30...0x39])
    static let word = Self(ranges: [0x30...0x39, 0x41...0x5A, 0x5F...0x5F, 0x61...0x7A])
    static let space = Self(ranges: [
        0x09...0x0D, 0x20...0x20, 0xA0...0xA0, 0x1680...0x1680, 0x2000...0x200A, 0x2028...0x2029,
        0x202F...0x202F, 0x205F...0x205F, 0x3000...0x3000, 0xFEFF...0xFEFF,
    ])
    /// The set of a full stop: all units except line ends.
    static let anyUnit = Self(
        ranges: [0x0A...0x0A, 0x0D...0x0D, 0x2028...0x2029], isNegated: true)

    /// The complement.
    var inverted: Self { Self(ranges: ranges, isNegated: !isNegated) }

    /// The ranges of the set, also if it is negated.
    var positive: [ClosedRange<UInt16>] {
        guard isNegated else { return ranges }
        var next: UInt32 = 0
        var result: [ClosedRange<UInt16>] = []
        for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if UInt32(range.lowerBound) > next {
                result.append(UInt16(next)...(range.lowerBound - 1))
            }
            next = max(next, UInt32(range.upperBound) + 1)
        }
        if next <= 0xFFFF { result.append(UInt16(next)...0xFFFF) }
        return result
    }
}

/// A regular expression as a tree.
indirect enum PatternNode: Sendable {
    case set(Pattern.UnitSet)
    case assertion(Pattern.Assertion)
    case sequence([PatternNode])
    case either([PatternNode])
    case repeated(PatternNode, least: Int, most: Int?)
}

/// Compiles a regular expression to the steps of its automaton.
struct PatternWriter {
    private(set) var steps: [Pattern.Step] = []

    /// Adds a tree, with its repetitions expanded.
    mutating func write(_ node: PatternNode) throws(Pattern.Refusal) {
        switch node {
        case .set(let set): try append(.unit(set))
        case .assertion(let assertion): try append(.assertion(assertion))
        case .sequence(let nodes): for node in nodes { try write(node) }
        case .either(let nodes): try write(either: nodes[...])
        case .repeated(let node, let least, let most):
            for _ in 0..<least {
                let before = steps.count
                try write(node)
                // The node matches the empty text alone, so repeating it changes nothing.
                if steps.count == before { break }
            }
            guard let most else {
                let split = steps.count
                try append(.split(split + 1, split + 1))
                try write(node)
                try append(.jump(split))
                steps[split] = .split(split + 1, steps.count)
                return
            }
            var splits: [Int] = []
            for _ in least..<most {
                splits.append(steps.count)
                try append(.split(0, 0))
                try write(node)
            }
            for split in splits { steps[split] = .split(split + 1, steps.count) }
        }
    }

    private mutating func write(either nodes: ArraySlice<PatternNode>) throws(Pattern.Refusal) {
        guard let first = nodes.first else { return }
        guard nodes.count > 1 else { return try write(first) }
        let split = steps.count
        try append(.split(0, 0))
        try write(first)
        let jump = steps.count
        try append(.jump(0))
        steps[split] = .split(split + 1, steps.count)
        try write(either: nodes.dropFirst())
        steps[jump] = .jump(steps.count)
    }

    private mutating func append(_ step: Pattern.Step) throws(Pattern.Refusal) {
        guard steps.count < Limits.patternSteps else {
            throw Pattern.Refusal(
                reason: "it becomes more than \(Limits.patternSteps) steps")
        }
        steps.append(step)
    }
}
