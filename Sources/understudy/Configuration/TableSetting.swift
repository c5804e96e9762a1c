import SyncCore
import TablesProtocol

/// A table as `--table` names it: `todoitem`, or with the part of it that is copied
/// `todoitem?$filter=complete eq false`.
struct TableSetting: Sendable, Hashable {
    let name: TableName
    /// The part; nil for the whole table.
    let part: TablePart?

    /// Reads a value of the setting; nil if it is not allowed.
    init?(_ text: String) {
        guard let setting = try? Self.read(text) else { return nil }
        self = setting
    }

    private init(name: TableName, part: TablePart?) { (self.name, self.part) = (name, part) }

    /// - Returns: nil if there is no table's name.
    /// - Throws: why the part is none.
    private static func read(_ text: String) throws(ODataError) -> TableSetting? {
        let parts = text.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        guard let name = TableName(parts[0]) else { return nil }
        let part: TablePart? = parts.count == 2 ? try TablePart(parsing: String(parts[1])) : nil
        return TableSetting(name: name, part: part)
    }

    /// What a value must be whose part is none, as part of a sentence; nil for any other value.
    static func refusal(_ text: String) -> String? {
        do throws(ODataError) {
            _ = try read(text)
            return nil
        } catch {
            return "a table with a filter that names a part of its rows. \(error)"
        }
    }
}
