/// Rows that move in one transaction: so many that neither the database nor this process holds much at once.
public struct MoveBatch: Sendable {
    /// The rows in their order.
    public private(set) var rows: [MovedRow] = []
    private var bytes = 0
    private let limit: (rows: Int, bytes: Int)

    /// No rows.
    /// - Parameters:
    ///   - rows: how many rows it takes.
    ///   - bytes: after how many bytes it takes no further row. One row may be larger.
    public init(rows: Int, bytes: Int) { limit = (rows, bytes) }

    /// Whether the next row belongs to the next batch.
    public var isFull: Bool { rows.count >= limit.rows || bytes >= limit.bytes }

    /// Adds a row.
    /// - Parameter size: its bytes.
    public mutating func add(_ row: MovedRow, bytes size: Int) {
        rows.append(row)
        bytes += size
    }
}
