import Storage
import Synchronization

/// What one server worker reads with: a connection, and what it remembers of the tables.
final class ClientReader: Sendable {
    private let reader: Reader
    let catalog = TableCatalog()
    /// Whether a client has read since the store was asked last (``Store/takeUse()``).
    let isUsed = Atomic(false)

    /// - Parameter uptime: a clock that only goes forward, for the time that a read takes.
    init(path: String, uptime: @escaping @Sendable () -> Duration) {
        reader = Reader(path: path, functions: ScalarFunction.ofQueries, uptime: uptime)
    }

    /// Reads as ``Reader/read(steps:isLeft:_:)`` does.
    @available(*, noasync)
    func read<T: Sendable>(
        steps: Int, isLeft: @escaping @Sendable () -> Bool = { false },
        _ body: (Connection) throws -> T
    ) throws -> T {
        try reader.read(steps: steps, isLeft: isLeft, body)
    }

    /// Closes the connection once no caller reads on it any more.
    func close() { reader.close() }
}
