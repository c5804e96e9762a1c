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

    /// Makes room for a newcomer:
    /// 1. of connections that wait for a whole request, cut those that their clients have left;
    ///    libmicrohttpd does not see an end that came together with the last bytes before its idle
    ///    time is over;
    /// 2. where there are none, cut the one that has waited longest, if that is at least `seconds`;
    /// 3. where there is none either, cut those whose clients have left their answers unread for
    ///    `seconds`: they took fewer than `slowestBytes` meanwhile.
    func makeRoom(seconds: Int, slowestBytes: UInt64) {
        let latest = ConnectionRecord.now - seconds
        records.withLock { records in
            let waiting = records.values.compactMap { record in
                record.waitingSince.map { (since: $0, record: record) }
            }
            let left = waiting.filter(\.record.hasClientLeft)
            for one in left { one.record.cut() }
            if !left.isEmpty { return }
            if let longest = waiting.min(by: { $0.since < $1.since }), longest.since <= latest {
                longest.record.cut()
                return
            }
            for record in records.values where record.waitingSince == nil {
                let since = record.unreadSince(slowestBytes: slowestBytes, pauseSeconds: seconds)
                if let since, since <= latest { record.cut() }
            }
        }
    }

    /// Makes room for another body: of the connections that hold memory for one and wait for the rest of
    /// it, cuts the one that has waited longest, if that is at least `seconds`.
    func makeRoomForBody(seconds: Int) {
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

    /// Cuts those whose request takes longer than `seconds`.
    ///
    /// Under the lock, so that no socket is closed meanwhile and its number given to another.
    func cutOverdue(seconds: Int) {
        records.withLock { records in
            for record in records.values { record.cutIfOverdue(seconds: seconds) }
        }
    }
}
