import TablesProtocol

extension PullToken {
    /// Moves the token to the latest row, never back: the pages of the overlap come before it.
    mutating func advance(to rows: some Sequence<RemoteRow>) {
        for row in rows {
            guard let raw = row.updatedAt, let instant = Instant(iso: raw) else { continue }
            if let updatedAt, let mine = Instant(iso: updatedAt), mine > instant { continue }
            updatedAt = raw
            lastID = row.id.text
        }
    }
}
