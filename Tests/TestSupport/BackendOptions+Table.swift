public import Backend
public import TablesProtocol

extension BackendOptions {
    /// The same backend with a table of this name: the express flavour has only what is listed, the
    /// others get their tables with the first write.
    public func having(_ table: TableName) -> BackendOptions {
        guard flavour == .express, tables[table] == nil else { return self }
        var options = self
        options.tables[table] = .standard(of: flavour)
        return options
    }
}
