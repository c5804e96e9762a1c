/// How long a client has left its answer unread, as far as looks from time to time can tell.
struct UnreadAnswer: Sendable {
    private struct Look {
        /// Since which second too little was taken.
        var since: Int
        /// The bytes that the client had taken then.
        var taken: UInt64
        /// The second of the latest look.
        var latest: Int
    }
    private var look: Look?

    /// Looks once more.
    ///
    /// 1. As long as more can be written, nothing waits.
    /// 2. Otherwise the client has to take some bytes; with so many, the time begins anew.
    /// 3. It begins anew also after a pause between two looks, of which nobody knows what the client
    ///    did in it.
    /// - Parameters:
    ///   - now: a second of a clock that only goes forward.
    ///   - taken: the bytes that the client has taken since the connection began; nil when nothing
    ///     waits for it, or nobody can tell.
    ///   - slowestBytes: as many as show that it reads.
    ///   - pauseSeconds: the longest time between two looks that belong together.
    /// - Returns: since which second; nil when the client reads.
    mutating func since(
        now: Int, taken: UInt64?, slowestBytes: UInt64, pauseSeconds: Int
    ) -> Int? {
        guard let taken else {
            look = nil
            return nil
        }
        var next = Look(since: now, taken: taken, latest: now)
        if let look, taken < look.taken + slowestBytes, now - look.latest <= pauseSeconds {
            (next.since, next.taken) = (look.since, look.taken)
        }
        look = next
        return next.since
    }
}
