import Dispatch
import HTTPMessage
import Synchronization
import TablesProtocol

/// Tells followers which tables have changed, by server-sent events: names and stamps, never rows.
///
/// 1. What the storage tells is gathered for a moment, so that many writes of a table are one event.
/// 2. Each follower is told what it may read.
/// 3. A follower that does not read, or whose token has ended, is dropped. It comes again, and is told then what
///    the tables are like.
final class ChangeFeed: Sendable {
    /// What a reader may be told of a change: nothing, or the change with or without its stamp.
    typealias Filter = @Sendable (TableChange, ChangeReader) -> TableChange?

    private struct Follower {
        let stream: ByteStream
        let reader: ChangeReader
    }
    private struct State {
        var followers: [Int: Follower] = [:]
        var nextID = 0
        /// The tables as the storage told them last.
        var latest: [TableName: TableChange] = [:]
        var gathered: [TableChange] = []
        /// Whether the gathered changes wait for their moment.
        var isGathering = false
        /// Whether heartbeats are sent.
        var isBeating = false
        var beats = 0
        /// Whether the storage tells its changes, and whether it has ever said that or the opposite.
        var isTold = false
        var hasSaid = false
        var isClosed = false
    }
    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "understudy.backend.changes")
    private let filter: Filter
    private let now: @Sendable () -> Instant

    init(now: @escaping @Sendable () -> Instant, filter: @escaping Filter) {
        self.now = now
        self.filter = filter
    }

    /// How many followers there are.
    var followerCount: Int { state.withLock { $0.followers.count } }

    /// Whether the storage tells its changes now.
    var isTold: Bool { state.withLock { $0.isTold } }

    /// Adds a follower, and tells it the tables as they are.
    /// - Returns: nil when ``Limits/changeFollowers`` follow, or the feed is closed.
    func follow(_ reader: ChangeReader) -> ByteStream? {
        let stream = ByteStream(capacityBytes: Limits.changeBytes)
        let id: Int? = state.withLock { state in
            guard !state.isClosed, state.followers.count < Limits.changeFollowers else {
                return nil
            }
            state.nextID += 1
            state.followers[state.nextID] = Follower(stream: stream, reader: reader)
            let known = state.latest.values.sorted { $0.table.key < $1.table.key }
            let spread = Self.spread(followers: state.followers.count)
            stream.write(spread + events(known, for: reader))
            return state.nextID
        }
        guard let id else { return nil }
        stream.onCancel { [weak self] in self?.drop(id) }
        beat()
        return stream
    }

    /// Takes what the storage tells, on any thread.
    /// - Returns: whether the operator should know: it tells no changes any more, or tells them again.
    @discardableResult
    func hear(_ news: ChangeNews) -> Bool {
        let (begins, isNew) = state.withLock { state -> (Bool, Bool) in
            var isNew = false
            switch news {
            case .silent:
                isNew = state.isTold || !state.hasSaid
                (state.isTold, state.hasSaid) = (false, true)
            case .changed(let changes): state.gathered += changes
            case .tables(let tables):
                isNew = !state.isTold && state.hasSaid
                (state.isTold, state.hasSaid) = (true, true)
                state.gathered += tables.filter { state.latest[$0.table]?.stamp != $0.stamp }
            }
            let begins = !state.gathered.isEmpty && !state.isGathering
            if begins { state.isGathering = true }
            return (begins, isNew)
        }
        if begins {
            queue.asyncAfter(deadline: .now() + .milliseconds(Limits.changeGatherMilliseconds)) {
                [weak self] in self?.tell()
            }
        }
        return isNew
    }

    /// Tells the followers what was gathered.
    private func tell() {
        let (changes, followers) = state.withLock { state in
            let changes = TableChange.latest(state.gathered)
            (state.gathered, state.isGathering) = ([], false)
            for change in changes {
                state.latest[change.table] = TableChange(table: change.table, stamp: change.stamp)
            }
            return (changes, state.followers)
        }
        let spread = Self.spread(followers: followers.count)
        // Most followers are told the same.
        var common: [ChangeReader: [UInt8]] = [:]
        let forAll = changes.filter { $0.owner == nil }
        let owned = Dictionary(grouping: changes.filter { $0.owner != nil }) { $0.owner }
        for (id, follower) in followers {
            let kind = ChangeReader(user: follower.reader.user == nil ? nil : "")
            let bytes: [UInt8]
            if let mine = owned[follower.reader.user], follower.reader.user != nil {
                bytes = events(forAll + mine, for: follower.reader)
            } else if let known = common[kind] {
                bytes = known
            } else {
                bytes = events(forAll, for: follower.reader)
                common[kind] = bytes
            }
            if !bytes.isEmpty, !follower.stream.write(spread + bytes) { drop(id) }
        }
    }

    /// The events of changes for a reader; nothing where it may be told none of them.
    private func events(_ changes: [TableChange], for reader: ChangeReader) -> [UInt8] {
        let told = changes.compactMap { filter($0, reader) }
        let events: [ChangeEvent] =
            told.count > Limits.namedChanges
            ? [.reset] : told.map { .change($0.table, updatedAt: $0.stamp) }
        return Array(events.map(\.text).joined().utf8)
    }

    private static func spread(followers: Int) -> [UInt8] {
        let milliseconds = spreadMilliseconds(followers: followers)
        return Array(ChangeEvent.spread(milliseconds: milliseconds).text.utf8)
    }

    /// The milliseconds over which so many followers spread what each does after a change, and their return
    /// after the end of a stream.
    static func spreadMilliseconds(followers: Int) -> Int {
        min(
            max(followers * 1000 / Limits.followersEachSecond, Limits.spreadMilliseconds),
            Limits.longestSpreadMilliseconds)
    }

    /// Sends each follower a comment line every ``Limits/heartbeatSeconds``, so that nothing on the way closes an
    /// idle connection, a part of them each second. Drops those whose token has ended.
    private func beat() {
        let starts = state.withLock { state in
            defer { state.isBeating = !state.followers.isEmpty }
            return !state.isBeating && !state.followers.isEmpty
        }
        if starts { scheduleBeat() }
    }

    private func scheduleBeat() {
        queue.asyncAfter(deadline: .now() + .seconds(1)) { [weak self] in
            guard let self else { return }
            let now = now()
            let due = state.withLock { state in
                state.beats += 1
                return state.followers.filter {
                    $0.key % Limits.heartbeatSeconds == state.beats % Limits.heartbeatSeconds
                }
            }
            for (id, follower) in due {
                let isOver = follower.reader.endsAt.map { $0 <= now } ?? false
                if isOver || !follower.stream.write(Array(ChangeEvent.heartbeat.utf8)) { drop(id) }
            }
            let goesOn = state.withLock { state in
                state.isBeating = !state.followers.isEmpty
                return state.isBeating
            }
            if goesOn { scheduleBeat() }
        }
    }

    private func drop(_ id: Int) {
        let follower = state.withLock { $0.followers.removeValue(forKey: id) }
        follower?.stream.finish()
    }

    /// Ends all streams.
    /// - Parameter closing: whether there are to be no others.
    func endAll(closing: Bool) {
        let followers = state.withLock { state in
            if closing { state.isClosed = true }
            defer { state.followers = [:] }
            return state.followers
        }
        for follower in followers.values { follower.stream.finish() }
    }
}
