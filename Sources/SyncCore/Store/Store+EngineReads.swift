import Storage

extension Store {
    /// Reads in one transaction on a connection of the engine's and the operator's own.
    func read<T: Sendable>(
        _ body: @escaping @Sendable (Transaction) throws -> T
    ) async throws(StoreError) -> T {
        try await read(on: operatorReader, body)
    }

    /// The same for what may look through the whole queue, so that the engine never waits for it.
    func search<T: Sendable>(
        _ body: @escaping @Sendable (Transaction) throws -> T
    ) async throws(StoreError) -> T {
        try await read(on: searchReader, body)
    }

    private func read<T: Sendable>(
        on reader: ConnectionQueue, _ body: @escaping @Sendable (Transaction) throws -> T
    ) async throws(StoreError) -> T {
        try Self.value(await reader.read { [work] in try body(work.transaction($0)) })
    }
}
