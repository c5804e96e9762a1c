import TablesProtocol

extension PullToken {
    /// Moves the token to the latest row, never back: the pages of the overlap come before it.
    ///
    /// A row of a time far in the future does not move it: all that changes until then would be missed.
    mutating func advance(to rows: some Sequence<ListElement>, now: Instant) {
        let latest = now.advanced(by: .seconds(SyncLimits.futureSeconds))
        for row in rows {
            guard let raw = row.updatedAt, let instant = Instant(iso: raw), instant <= latest
            else { continue }
            if let updatedAt, let mine = Instant(iso: updatedAt), mine > instant { continue }
            updatedAt = raw
            lastID = row.idText ?? ""
        }
    }
}
