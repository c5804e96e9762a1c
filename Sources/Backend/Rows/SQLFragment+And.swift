import TablesProtocol

extension SQLFragment {
    /// Both conditions.
    func and(_ other: SQLFragment) -> SQLFragment {
        SQLFragment("\(text) AND (\(other.text))", arguments + other.arguments)
    }
}
