import Synchronization

/// The connections that are open, each until right before its socket is closed.
final class OpenConnections: Sendable {
    private let records = Mutex<[ObjectIdentifier: ConnectionRecord]>([:])

    func insert(_ record: ConnectionRecord) {
        records.withLock { $0[ObjectIdentifier(record)] = record }
    }

    func remove(_ record: ConnectionRecord) {
        _ = records.withLock { $0.removeValue(forKey: ObjectIdentifier(record)) }
    }

    /// Closes connections, so that a new one can be accepted:
    /// 1. of those that wait for a whole request, all whose client has closed its side. libmicrohttpd sees an
    ///    end that came together with the last bytes only when its idle time is over.
    /// 2. If there are none: the one that has waited longest, if it has waited for `seconds`.
    /// 3. If there is none either: those whose client has taken fewer than `minimumBytes` of its answer in
    ///    `seconds`.
    func evictForConnection(seconds: Int, minimumBytes: UInt64) {
        let latest = ConnectionRecord.now - seconds
        records.withLock { records in
            let waiting = records.values.compactMap { record in
                record.waitingSince.map { (since: $0, record: record) }
            }
            let closed = waiting.filter(\.record.hasPeerClosed)
            for connection in closed { connection.record.cut() }
            if !closed.isEmpty { return }
            if let longest = waiting.min(by: { $0.since < $1.since }), longest.since <= latest {
                longest.record.cut()
                return
            }
            for record in records.values where record.waitingSince == nil {
                let since = record.unreadSince(minimumBytes: minimumBytes, pauseSeconds: seconds)
                if let since, since <= latest { record.cut() }
            }
        }
    }

    /// Closes a connection, so that its memory serves another body: of those that hold memory for a body and
    /// wait for the rest of it, the one that has waited longest, if it has waited for `seconds`.
    func evictForBody(seconds: Int) {
        let latest = ConnectionRecord.now - seconds
        records.withLock { records in
            let waiting = records.values.filter(\.holdsBody).compactMap { record in
                record.waitingSince.map { (since: $0, record: record) }
            }
            guard let longest = waiting.min(by: { $0.since < $1.since }), longest.since <= latest
            else { return }
            longest.record.cut()
        }
    }

    /// Cuts the connections whose request takes longer than `seconds`.
    ///
    /// This happens under the lock: otherwise a socket could be closed meanwhile, and its number given to
    /// another connection.
    func cutOverdue(seconds: Int) {
        records.withLock { records in
            for record in records.values { record.cutIfOverdue(seconds: seconds) }
        }
    }
}
