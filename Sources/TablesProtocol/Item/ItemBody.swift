/// The JSON object that a client sent with an insert, update or replace, taken apart.
public struct ItemBody: Sendable, Hashable {
    /// The id in the body; nil when absent, null, empty, or 0.
    public var id: ItemID?
    /// The user's columns in the order they came.
    public var columns: Columns
    /// The version in the body of the second generation: a condition where no If-Match came.
    public var version: String?
    /// What the body of the third generation says the item is.
    public var stated: Stated
    /// The deleted mark in the body.
    public var deleted: Bool?
    /// What a JSON Patch tests: members of the item, the server's own too, and their values.
    public var tests: [Columns.Column]
    /// The properties that servers of the third generation do not let an update change: one that
    /// names others than the item's is refused.
    public struct Stated: Sendable, Hashable {
        /// The version.
        public var version: String?
        /// When the item last changed.
        public var updatedAt: Instant?

        /// Makes a statement; without arguments, none.
        public init(version: String? = nil, updatedAt: Instant? = nil) {
            self.version = version
            self.updatedAt = updatedAt
        }
    }

    /// True when the body had system properties, which were taken out.
    public var hadReservedProperties: Bool

    /// Makes a body from its parts.
    public init(
        id: ItemID? = nil, columns: Columns, version: String? = nil, stated: Stated = Stated(),
        deleted: Bool? = nil, tests: [Columns.Column] = [], hadReservedProperties: Bool = false
    ) {
        self.id = id
        self.columns = columns
        self.version = version
        self.stated = stated
        self.deleted = deleted
        self.tests = tests
        self.hadReservedProperties = hadReservedProperties
    }
}
