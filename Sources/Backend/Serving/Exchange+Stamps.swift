import TablesProtocol

extension Exchange {
    /// The next `updatedAt` of a table.
    func stamp(_ table: inout TableRecord) -> Instant {
        let next: Instant
        switch options.stamps {
        case .increasing, .none:
            let last = Instant(ticks: table.lastStamp)
            next = Instant(
                milliseconds: table.lastStamp == 0
                    ? now.milliseconds : max(now.milliseconds, last.milliseconds + 1))
        case .ties(let step):
            let step = Int64(max(step, 1))
            next = Instant(milliseconds: now.milliseconds / step * step)
        case .subMillisecond:
            next = Instant(ticks: max(now.ticks, table.lastStamp + 1))
        }
        table.lastStamp = max(table.lastStamp, next.ticks)
        return next
    }

    /// Gives a changed row its new stamp and version.
    func advance(_ row: inout Row, to stamp: Instant) {
        row.updatedAt = stamp
        row.revision += 1
        switch options.versions {
        case .counter: row.version = Base64.text(String(row.revision).utf8)
        case .random: row.version = Base64.text(random.bytes(16))
        }
    }
}
