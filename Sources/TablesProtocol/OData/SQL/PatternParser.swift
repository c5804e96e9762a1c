/// Parses a regular expression: the syntax of JavaScript and .NET that needs no backtracking.
struct PatternParser {
    private let units: [UInt16]
    private var position = 0
    private var nesting = 0

    init(_ text: String) { units = Array(text.utf16) }

    /// The whole pattern.
    mutating func whole() throws(Pattern.Refusal) -> PatternNode {
        let node = try alternatives()
        if position < units.count { throw refusal("a ')' has no '(' before it") }
        return node
    }

    private func refusal(_ reason: String) -> Pattern.Refusal {
        Pattern.Refusal(reason: "\(reason) (at character \(position))")
    }

    private func isNext(_ character: Unicode.Scalar, after distance: Int = 0) -> Bool {
        position + distance < units.count && UInt32(units[position + distance]) == character.value
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard isNext(character) else { return false }
        position += 1
        return true
    }

    private mutating func alternatives() throws(Pattern.Refusal) -> PatternNode {
        guard nesting < Limits.patternNesting else {
            throw refusal("its groups are more than \(Limits.patternNesting) levels deep")
        }
        nesting += 1
        defer { nesting -= 1 }
        var nodes = [try sequence()]
        while take("|") { nodes.append(try sequence()) }
        return nodes.count == 1 ? nodes[0] : .either(nodes)
    }

    private mutating func sequence() throws(Pattern.Refusal) -> PatternNode {
        var nodes: [PatternNode] = []
        while position < units.count, !isNext("|"), !isNext(")") {
            nodes.append(try repeated(try one()))
        }
        return .sequence(nodes)
    }

    /// One unit, set, assertion or group.
    private mutating func one() throws(Pattern.Refusal) -> PatternNode {
        if take("^") { return .assertion(.start) }
        if take("$") { return .assertion(.end) }
        if take(".") { return .set(.anyUnit) }
        if take("(") { return try group() }
        if take("[") { return .set(try set()) }
        if take("\\") { return try escape() }
        if isNext("*") || isNext("+") || isNext("?") { throw refusal("there is nothing to repeat") }
        defer { position += 1 }
        return .set(Pattern.UnitSet(ranges: [units[position]...units[position]]))
    }

    /// `(…)`, `(?:…)`, `(?<name>…)`. Captures are not used.
    private mutating func group() throws(Pattern.Refusal) -> PatternNode {
        if take("?") {
            if take("<"), !isNext("="), !isNext("!") {
                while position < units.count, !isNext(">") { position += 1 }
                guard take(">") else { throw refusal("the name of a group has no end") }
            } else if !take(":") {
                throw refusal("looking ahead or behind and options are not supported")
            }
        }
        let node = try alternatives()
        guard take(")") else { throw refusal("a '(' has no ')' behind it") }
        return node
    }

    /// `*`, `+`, `?`, `{m}`, `{m,}`, `{m,n}` after a node. A lazy repetition matches the same texts.
    private mutating func repeated(_ node: PatternNode) throws(Pattern.Refusal) -> PatternNode {
        var node = node
        while let (least, most) = try bounds() {
            if let most, most < least { throw refusal("a repetition ends before it begins") }
            _ = take("?")
            node = .repeated(node, least: least, most: most)
        }
        return node
    }

    private mutating func bounds() throws(Pattern.Refusal) -> (Int, Int?)? {
        if take("*") { return (0, nil) }
        if take("+") { return (1, nil) }
        if take("?") { return (0, 1) }
        guard isNext("{") else { return nil }
        let start = position
        position += 1
        if let least = try number() {
            if take("}") { return (least, least) }
            if take(",") {
                let most = try number()
                if take("}") { return (least, most) }
            }
        }
        // Not a repetition, so the brace is an ordinary character.
        position = start
        return nil
    }

    private mutating func number() throws(Pattern.Refusal) -> Int? {
        var value: Int?
        while position < units.count, Pattern.UnitSet.digit.contains(units[position]) {
            value = (value ?? 0) * 10 + Int(units[position] - 0x30)
            guard value ?? 0 <= Limits.patternSteps else {
                throw refusal("a repetition is of more than \(Limits.patternSteps)")
            }
            position += 1
        }
        return value
    }

    /// An escape outside a set.
    private mutating func escape() throws(Pattern.Refusal) -> PatternNode {
        if take("b") { return .assertion(.wordBoundary) }
        if take("B") { return .assertion(.noWordBoundary) }
        if position < units.count, (0x31...0x39).contains(units[position]) || isNext("k") {
            throw refusal("references to groups are not supported")
        }
        return .set(try escaped())
    }

    /// The set of an escape, inside or outside a set.
    private mutating func escaped() throws(Pattern.Refusal) -> Pattern.UnitSet {
        guard position < units.count, let scalar = Unicode.Scalar(units[position]) else {
            throw refusal("a '\\' has nothing behind it")
        }
        position += 1
        func one(_ unit: UInt16) -> Pattern.UnitSet { Pattern.UnitSet(ranges: [unit...unit]) }
        switch Character(scalar) {
        case "d": return .digit
        case "D": return .digit.inverted
        case "w": return .word
        case "W": return .word.inverted
        case "s": return .space
        case "S": return .space.inverted
        case "t": return one(0x09)
        case "n": return one(0x0A)
        case "v": return one(0x0B)
        case "f": return one(0x0C)
        case "r": return one(0x0D)
        case "0": return one(0)
        case "x": return one(try hexadecimal(2))
        case "u": return one(try hexadecimal(4))
        case let letter where letter.isLetter || letter.isNumber:
            throw refusal("'\\\(letter)' is not supported")
        case _: return one(units[position - 1])
        }
    }

    private mutating func hexadecimal(_ count: Int) throws(Pattern.Refusal) -> UInt16 {
        let digits = units[position...].prefix(count)
        guard digits.count == count,
            let value = UInt16(String(decoding: digits, as: UTF16.self), radix: 16)
        else { throw refusal("\(count) hexadecimal digits are missing") }
        position += count
        return value
    }

    /// `[a-z_]`, `[^0-9]`.
    private mutating func set() throws(Pattern.Refusal) -> Pattern.UnitSet {
        let isNegated = take("^")
        var ranges: [ClosedRange<UInt16>] = []
        while !take("]") {
            let first = try member()
            guard isNext("-"), !isNext("]", after: 1), first.ranges.count == 1, !first.isNegated,
                let low = first.ranges.first, low.lowerBound == low.upperBound
            else {
                ranges += first.positive
                continue
            }
            position += 1
            let last = try member()
            guard last.ranges.count == 1, !last.isNegated, let high = last.ranges.first,
                high.lowerBound == high.upperBound, low.lowerBound <= high.upperBound
            else { throw refusal("a range of characters is not one") }
            ranges.append(low.lowerBound...high.upperBound)
        }
        return Pattern.UnitSet(ranges: ranges, isNegated: isNegated)
    }

    private mutating func member() throws(Pattern.Refusal) -> Pattern.UnitSet {
        guard position < units.count else { throw refusal("a '[' has no ']' behind it") }
        if take("\\") {
            if take("b") { return Pattern.UnitSet(ranges: [0x08...0x08]) }
            return try escaped()
        }
        let unit = units[position]
        guard !(0xD800...0xDFFF).contains(unit) else {
            throw refusal("characters beyond U+FFFF are not supported in a set")
        }
        position += 1
        return Pattern.UnitSet(ranges: [unit...unit])
    }
}
