import Storage

extension ConnectionQueue {
    /// A connection that only reads a store.
    static func storeReader(
        _ path: String, accesses: AccessCount = AccessCount()
    ) throws -> ConnectionQueue {
        try reader(path, functions: ScalarFunction.ofQueries, accesses: accesses)
    }

    /// A connection that writes a file which no ``Store`` has open.
    static func storeWriter(_ path: String) throws -> ConnectionQueue {
        try writer(path, functions: ScalarFunction.ofQueries)
    }
}
