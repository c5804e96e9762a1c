/// A regular expression as a tree.
indirect enum PatternNode: Sendable {
    case set(Pattern.UnitSet)
    case assertion(Pattern.Assertion)
    case sequence([PatternNode])
    case either([PatternNode])
    case repeated(PatternNode, least: Int, most: Int?)
}

/// Writes the steps of a regular expression's machine.
struct PatternWriter {
    private(set) var steps: [Pattern.Step] = []

    /// Adds a tree; its repetitions are written out.
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
                // Nothing, however often.
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
