/// The items of one answer to a list as JSON text, written one by one.
public struct PageText: ListedPage {
    /// How many items match the filter regardless of skip and top; nil when not asked for.
    public var count: Int?
    /// True when more items match within the client's own top.
    public var hasMore = false
    /// How many items are on the page.
    private(set) var rows = 0
    /// Whether it has no items.
    public var isEmpty: Bool { rows == 0 }
    /// When the last of them last changed, by the store's own stamp.
    private(set) var lastChange: Instant?
    private let writer: ItemWriter
    private var bytes: [UInt8] = []

    init(_ writer: ItemWriter) { self.writer = writer }

    init(_ writer: ItemWriter, _ page: ItemPage) {
        self.writer = writer
        count = page.count
        hasMore = page.hasMore
        rows = page.items.count
        lastChange = page.hasOwnStamps ? page.items.last?.updatedAt : nil
        reserve(rows: rows)
        for item in page.items {
            bytes.append(UInt8(ascii: ","))
            writer.write(item, to: &bytes)
        }
    }

    /// Makes room for so many items of a usual size.
    package mutating func reserve(rows: Int) {
        bytes.reserveCapacity(Self.itemBytes * rows + 64)
    }
    private static let itemBytes = 256

    /// Appends an item.
    package mutating func add(_ item: some StoredItem, idKind: IDKind) {
        rows += 1
        lastChange = item.updatedAt
        bytes.append(UInt8(ascii: ","))
        writer.write(item, idKind, to: &bytes)
    }

    /// The JSON array of the items, after `prefix`.
    consuming func array(after prefix: String = "") -> [UInt8] {
        if bytes.isEmpty { return Array((prefix + "[]").utf8) }
        bytes[0] = UInt8(ascii: "[")
        bytes.append(UInt8(ascii: "]"))
        return prefix.isEmpty ? bytes : Array(prefix.utf8) + bytes
    }
}
