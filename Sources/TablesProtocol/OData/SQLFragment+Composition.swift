extension SQLFragment {
    /// SQL's null.
    static let null = SQLFragment("NULL")

    /// A bound value.
    static func bound(_ value: SQLValue) -> SQLFragment { SQLFragment("?", [value]) }

    /// `name(a, b)`.
    static func call(_ name: String, _ arguments: SQLFragment...) -> SQLFragment {
        call(name, arguments)
    }

    static func call(_ name: String, _ arguments: [SQLFragment]) -> SQLFragment {
        let list = joined(arguments, separator: ", ")
        return SQLFragment("\(name)(\(list.text))", list.arguments)
    }

    static func joined(_ fragments: [SQLFragment], separator: String) -> SQLFragment {
        SQLFragment(
            fragments.map(\.text).joined(separator: separator), fragments.flatMap(\.arguments))
    }

    /// `(left word right)`.
    func infix(_ word: String, _ right: SQLFragment) -> SQLFragment {
        SQLFragment("(\(text) \(word) \(right.text))", arguments + right.arguments)
    }

    /// `(a word b word c)`, in groups so that a long chain is not a deep expression.
    static func chain(_ operands: [SQLFragment], _ word: String) -> SQLFragment {
        guard operands.count > Limits.chainOperands else {
            let list = joined(operands, separator: " \(word) ")
            return SQLFragment("(\(list.text))", list.arguments)
        }
        let groups = stride(from: 0, to: operands.count, by: Limits.chainOperands).map { start in
            chain(
                Array(operands[start..<min(start + Limits.chainOperands, operands.count)]), word)
        }
        return chain(groups, word)
    }
}
