public import Backend
public import TablesProtocol

extension BackendOptions {
    /// The same backend with a table of this name. The express flavour has only the listed tables; the
    /// others create a table with its first write.
    public func having(_ table: TableName) -> BackendOptions {
        guard flavour == .express, tables[table] == nil else { return self }
        var options = self
        options.tables[table] = .standard(of: flavour)
        return options
    }
}
