import Storage
import TablesProtocol

/// The pull token of one table, query id and filter.
struct PullToken: Sendable, Hashable {
    fileprivate(set) var rowID: Int64
    /// The backend's own text of the last row's updatedAt; nil before the first row.
    var updatedAt: String?
    var lastID: String?
    /// Whether a pull has reached its end once.
    var isComplete: Bool
    var lastRunAt: Instant?
    /// Whether every row with a time up to `updatedAt` was received, those that were committed late too.
    var isSettled = false
    /// How much further than by the overlap the next pull goes back, in milliseconds: so long before its row was
    /// received the pull had begun, or by so much an earlier row was left for a later pull.
    var lookBack: Int64 = 0
    /// When a complete pull ended with this `updatedAt` for the first time, by the backend's clock; nil if it does
    /// not say.
    var seenAt: Instant?
    /// Up to which time the backend no longer has deleted rows (``RemotePage/deletionsAfter``), as far as the last
    /// complete pull has made up for it.
    var deletionsAfter: Instant?
}

extension PullToken: Stored {
    static let stored = StoredColumns<PullToken>(
        "tokens", blank: PullToken(rowID: 0, isComplete: false),
        [
            .init("id", \.rowID, .assigned), .init("updated_at", \.updatedAt),
            .init("last_id", \.lastID), .init("is_complete", \.isComplete),
            .init("last_run_at", \.lastRunAt), .init("is_settled", \.isSettled),
            .init("look_back", \.lookBack), .init("seen_at", \.seenAt),
            .init("deletions_after", get: \.deletionsAfter?.ticks) { token, ticks in
                token.deletionsAfter = ticks.map { Instant(ticks: $0) }
            },
        ])
}

/// The pull tokens, and the items that each query returned: `tokens` and `members`.
struct PullTokens {
    let transaction: Transaction

    /// The token of a table, query id and filter, made if there is none. A new filter under an existing
    /// query id has a token of its own, so its pull starts from the beginning.
    func token(
        _ table: TableRecord, queryID: String, filterHash: String
    ) throws -> PullToken {
        try transaction.run(
            """
            INSERT INTO tokens(table_id, query_id, filter_hash) VALUES (?, ?, ?)
            ON CONFLICT DO NOTHING
            """, [table.id, queryID, filterHash])
        let token = try transaction.first(
            """
            SELECT \(PullToken.stored.names) FROM tokens
            WHERE table_id = ? AND query_id = ? AND filter_hash = ?
            """, [table.id, queryID, filterHash], PullToken.init)
        guard let token else { throw StoreError.failed("No token was made.") }
        return token
    }

    func token(_ table: TableRecord, of request: PullRequest) throws -> PullToken {
        try token(table, queryID: request.queryID ?? "", filterHash: request.filterHash)
    }

    func save(_ token: PullToken) throws { try transaction.update(token) }

    /// Whether a token is still stored. A purge, the removal of its table and a full store remove it.
    func exists(_ token: PullToken) throws -> Bool {
        try transaction.integer("SELECT 1 FROM tokens WHERE id = ?", [token.rowID]) != nil
    }

    /// Removes the tokens of a table: of one query id, or all.
    func remove(of table: TableRecord, queryID: String? = nil) throws {
        try transaction.run(
            "DELETE FROM tokens WHERE table_id = ?1 AND query_id = coalesce(?2, query_id)",
            [table.id, queryID])
    }

    func addMember(_ id: ItemID, to token: PullToken) throws {
        try transaction.run(
            "INSERT INTO members(token, item_id) VALUES (?, ?) ON CONFLICT DO NOTHING",
            [token.rowID, id.text])
    }

    /// The ids of the items that a query returned and that have no open operation, as texts. Items that
    /// were pushed after the change counter `change` are left out.
    func cleanMembers(
        of token: PullToken, in table: TableRecord, asOf change: Int64
    ) throws -> [String] {
        try transaction.column(
            """
            SELECT item_id FROM members
            LEFT JOIN items ON items.table_id = ?1 AND items.id = members.item_id
            WHERE token = ?2 AND pending IS NULL AND coalesce(settled_at, 0) <= ?3
            """, [table.id, token.rowID, change])
    }

    /// Whether an item has another reason to stay: another query returned it, or the table's copy is pulled
    /// too, even if that pull is incomplete or has not returned the item.
    func isClaimed(_ id: String, in table: TableRecord, besides token: PullToken) throws -> Bool {
        try transaction.integer(
            """
            SELECT 1 FROM tokens WHERE table_id = ?1 AND id <> ?2 AND (
              query_id = '' AND (is_complete OR updated_at IS NOT NULL)
              OR EXISTS (SELECT 1 FROM members WHERE token = tokens.id AND item_id = ?3)) LIMIT 1
            """, [table.id, token.rowID, id]) != nil
    }

    /// The ids of the items that queries of the developer's returned.
    func members(of table: TableRecord) throws -> Set<String> {
        Set(
            try transaction.column(
                """
                SELECT item_id FROM tokens JOIN members ON members.token = tokens.id
                WHERE table_id = ?
                """, [table.id]))
    }

    /// Whether a query of the developer's returned an item, or the list of a client's own pairs.
    /// - Parameter ofPairs: whether only such lists count.
    func isMember(_ id: String, in table: TableRecord, ofPairs: Bool = false) throws -> Bool {
        try transaction.integer(
            """
            SELECT 1 FROM tokens JOIN members ON members.token = tokens.id
            WHERE table_id = ? AND item_id = ? AND (substr(query_id, 1, 1) = '?' OR NOT ?) LIMIT 1
            """, [table.id, id, ofPairs]) != nil
    }

    /// Removes the record that a query returned an item.
    func removeMember(_ id: String, from token: PullToken) throws {
        try transaction.run(
            "DELETE FROM members WHERE token = ? AND item_id = ?", [token.rowID, id])
    }

    /// Records which rows the list of a client's own pairs has, deleted ones included: clients that sync learn
    /// of their deletion. At most ``SyncLimits/followedPairs`` sets of pairs of a table are remembered; those
    /// not used for the longest time are forgotten.
    func follow(_ rows: some Sequence<ListElement>, of token: PullToken) throws {
        for id in rows.compactMap(\.itemID) { try addMember(id, to: token) }
    }

    /// Notes that a set of pairs is in use.
    func noteUse(_ token: PullToken, of table: TableRecord) throws {
        try transaction.run(
            "UPDATE tokens SET last_run_at = ? WHERE id = ?",
            [transaction.now.milliseconds, token.rowID])
        try transaction.run(
            """
            DELETE FROM tokens WHERE id IN (SELECT id FROM tokens
              WHERE table_id = ? AND substr(query_id, 1, 1) = '?' AND id <> ?
              ORDER BY last_run_at DESC LIMIT -1 OFFSET ?)
            """, [table.id, token.rowID, SyncLimits.followedPairs - 1])
    }

    /// Forgets the members that a list of the pairs no longer has, since it would have shown them. An item with
    /// local changes stays, and one whose push ended after the list was asked for. So does a tombstone, of
    /// which clients that sync learn.
    /// - Parameters:
    ///   - ids: the rows that the list had.
    ///   - since: the list had only rows that changed at this instant or later; nil for all.
    ///   - change: ``StoreCounters/changeCount()`` before the list was asked for.
    func forgetOthers(
        than ids: Set<ItemID>, since: Instant?, asOf change: Int64, _ token: PullToken,
        of table: TableRecord
    ) throws {
        let members: [String] = try transaction.column(
            """
            SELECT item_id FROM members
            JOIN items ON items.table_id = ?1 AND items.id = members.item_id
            WHERE token = ?2 AND pending IS NULL AND deleted = 0 AND settled_at <= ?3
              AND (?4 IS NULL OR odata_instant(server_updated_at) >= ?4)
            """, [table.id, token.rowID, change, since?.ticks])
        let here = Set(ids.map(\.text))
        for id in members where !here.contains(id) { try removeMember(id, from: token) }
    }

    /// The token of a client's own pairs; nil where their list was never seen.
    func known(_ pairs: OwnPairs, _ table: TableRecord) throws -> PullToken? {
        let request = PullRequest.following(pairs, of: table.name)
        let isKnown = try transaction.integer(
            "SELECT 1 FROM tokens WHERE table_id = ? AND query_id = ? AND filter_hash = ?",
            [table.id, pairs.queryID, request.filterHash])
        return isKnown == nil ? nil : try token(table, of: request)
    }

    /// Up to which `updatedAt` a whole table was pulled; nil before a pull has ended.
    func pulledUpTo(_ table: TableRecord) throws -> Instant? {
        let text: String? = try transaction.first(
            """
            SELECT updated_at FROM tokens
            WHERE table_id = ? AND query_id = '' AND filter_hash = '' AND is_complete
            """, [table.id]
        ) { $0[0] }
        return text.flatMap { Instant(iso: $0) }
    }

    /// The ids of the items that a list of the pairs had.
    func members(of token: PullToken) throws -> Set<String> {
        let ids: [String] = try transaction.column(
            "SELECT item_id FROM members WHERE token = ?", [token.rowID])
        return Set(ids)
    }

    /// Records which rows a query returns now, and which are deleted.
    func note(_ rows: some Sequence<ListElement>, of token: PullToken) throws {
        for row in rows.lazy.compactMap(\.row) {
            if row.isDeleted {
                try removeMember(row.id.text, from: token)
            } else {
                try addMember(row.id, to: token)
            }
        }
    }
}

/// When a pull read its pages, by the backend's clock, and what it did not apply.
struct PullTimes: Sendable, Hashable {
    /// When the first page was sent; nil if the backend does not say.
    var began: Instant?
    /// When the last page was sent; nil if the backend does not say.
    var ended: Instant?
    /// The earliest time of a row that was left for a later pull (``AppliedRow/skipped``).
    var skipped: Instant?
}

extension PullToken {
    /// The instant of the token; nil before the first row.
    var reached: Instant? { updatedAt.flatMap { Instant(iso: $0) } }

    /// Where the next pull begins; nil for the first row.
    ///
    /// A row may be committed up to ``SyncLimits/overlapSeconds`` after its time, and a page that was read before
    /// misses it. When the token's row was received, the database's clock showed at least the token. So it showed
    /// at least the token minus the time since the pull's beginning when the pull began. Rows with times until
    /// the overlap before that were all committed by then. No clock is compared with another.
    /// Behind a settled token there is nothing to miss.
    var start: InstantLiteral? {
        guard let updatedAt, let reached else { return nil }
        if isSettled { return InstantLiteral(updatedAt)?.following }
        let back = Duration.seconds(SyncLimits.overlapSeconds) + .milliseconds(lookBack)
        return InstantLiteral(reached.advanced(by: .zero - back).text)
    }

    /// Whether rows may be here whose deletion no later pull brings, because the backend no longer has the rows
    /// that it deleted up to a time, and some of them are later than where the next pull begins.
    func misses(deletionsUpTo time: Instant) -> Bool {
        guard let start, time >= start.instant else { return false }
        return deletionsAfter.map { $0 < time } ?? true
    }

    /// Advances the token to the latest row. It never goes back, although the first pages overlap.
    ///
    /// A row more than ``SyncLimits/futureSeconds`` after the beginning of the pull does not advance it:
    /// all changes before that time would be missed. The row comes again in each pull until its time.
    /// - Parameters:
    ///   - begunAt: when the pull began, by the clock that gives rows their times.
    ///   - elapsed: the time from the beginning of the pull until the rows were received.
    mutating func advance(
        to rows: some Sequence<ListElement>, begunAt: Instant, elapsed: Duration = .zero
    ) {
        let latest = begunAt.advanced(by: .seconds(SyncLimits.futureSeconds))
        for row in rows {
            guard let raw = row.updatedAt, let instant = Instant(iso: raw), instant <= latest
            else { continue }
            if let reached, reached > instant { continue }
            if reached != instant {
                (isSettled, seenAt) = (false, nil)
                // A part of a millisecond counts.
                lookBack = Int64(elapsed / .milliseconds(1)) + 1
            }
            updatedAt = raw
            lastID = row.idText ?? ""
        }
    }

    /// Makes the next pull begin before a row that was left.
    mutating func hold(before time: Instant) {
        guard let reached else { return }
        isSettled = false
        lookBack = max(lookBack, reached.milliseconds - time.milliseconds + 1)
    }

    /// Completes the token at the end of a pull, and decides whether it is settled.
    ///
    /// 1. A token that a complete pull ended with ``SyncLimits/settledSeconds`` before this one began is settled.
    ///    Its row could be seen then, so by now every row with such a time is committed, and this pull began before
    ///    it. No clock is compared with another.
    /// 2. So is the token of a first pull if it is ``SyncLimits/settledAtOnceSeconds`` old.
    /// 3. Without a `Date` there is no proof.
    ///
    /// A backend may round times down to minutes, hours or days. Then later changes get the token's time until the
    /// next one begins, so for a token of such a time that is waited for too.
    ///
    /// - Parameter earlier: the token at the beginning of the pull.
    mutating func complete(after earlier: PullToken?, _ times: PullTimes) {
        let wasReached = earlier?.reached
        let isMoved = reached != wasReached
        let isFirst = wasReached == nil || earlier?.isComplete != true
        isComplete = true
        // Rows of a token that was there before the pull began were committed by then.
        if !isMoved { lookBack = 0 }
        if let skipped = times.skipped { hold(before: skipped) }
        guard let reached, times.skipped == nil, let began = times.began, let ended = times.ended
        else {
            if isMoved { seenAt = nil }
            return
        }
        let second = reached.milliseconds / 1000
        let isWhole = reached.ticks % 10_000_000 == 0
        let grain = isWhole ? SyncLimits.roundedSeconds.first { second % $0 == 0 } ?? 0 : 0
        func isPast(_ seconds: Int64, since time: Instant) -> Bool {
            time.advanced(by: .seconds(seconds + grain)) <= began
        }
        if let seenAt, !isMoved {
            isSettled = isSettled || isPast(SyncLimits.settledSeconds, since: seenAt)
        } else {
            seenAt = ended
            isSettled = isFirst && isPast(SyncLimits.settledAtOnceSeconds, since: reached)
        }
    }
}
