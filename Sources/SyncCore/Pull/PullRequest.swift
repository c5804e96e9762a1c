import TablesProtocol

/// What a pull is asked for.
struct PullRequest: Sendable, Hashable {
    var table: TableName
    /// Which rows; the whole table unless narrowed.
    var query = PullQuery()
    /// The developer's name for the query. Without one a filtered pull keeps no token.
    var queryID: String?
    /// Remove clean local items that the backend no longer has, or that left the query.
    var reconcile = false

    /// Whether all rows are asked for.
    var isWhole: Bool { query.key.isEmpty }

    /// Whether the pull keeps a token, so that the next of its kind goes on where it ended.
    var keepsToken: Bool { isWhole || queryID != nil }

    /// Names the filter in the token's key, so that another filter begins anew (FNV-1a).
    var filterHash: String {
        guard !isWhole else { return "" }
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in query.key.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return String(hash, radix: 16)
    }
}
