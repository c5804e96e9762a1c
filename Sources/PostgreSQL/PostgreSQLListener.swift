import CPostgreSQL
import Dispatch
import Glibc

/// A connection that hears what transactions announce with `NOTIFY`, and the thread that waits on it.
///
/// A lost connection, also to a primary that failed, is made anew as long as it is wanted.
public enum PostgreSQLListener {
    /// What is heard, in order and on one thread.
    public struct Events: Sendable {
        /// Whether it is to go on; asked at least every ``Limits/listenPauseMilliseconds``.
        let isWanted: @Sendable () -> Bool
        /// A connection listens. What was announced before was missed; what it reads now is the state from
        /// which on it hears everything.
        let began: @Sendable (PostgreSQLConnection) throws -> Void
        /// The texts of announcements.
        let heard: @Sendable ([String]) -> Void
        /// Nothing is heard any more, until ``began``.
        let ended: @Sendable (PostgreSQLError) -> Void

        /// Makes the events from what is called for each.
        public init(
            isWanted: @escaping @Sendable () -> Bool,
            began: @escaping @Sendable (PostgreSQLConnection) throws -> Void,
            heard: @escaping @Sendable ([String]) -> Void,
            ended: @escaping @Sendable (PostgreSQLError) -> Void
        ) {
            self.isWanted = isWanted
            self.began = began
            self.heard = heard
            self.ended = ended
        }
    }

    /// Listens on a thread of its own.
    /// - Parameters:
    ///   - schema: the schema whose tables statements name.
    ///   - channel: what is listened to.
    static func start(_ url: String, schema: String, channel: String, _ events: Events) {
        // A serial queue has a thread of its own while its work waits.
        DispatchQueue(label: "understudy.postgresql.listener").async {
            run(url, schema: schema, channel: channel, events)
        }
    }

    @available(*, noasync)
    private static func run(_ url: String, schema: String, channel: String, _ events: Events) {
        var failures = 0
        while events.isWanted() {
            do throws(PostgreSQLError) {
                let connection = try PostgreSQLConnection(
                    url, schema: schema, lockMilliseconds: Limits.lockMilliseconds)
                let name = PostgreSQLConnection.identifier(channel)
                // So that a person finds it among the connections of the server.
                try connection.run(
                    script: "SET application_name = 'understudy listens'; LISTEN \(name)")
                do {
                    try events.began(connection)
                } catch {
                    throw error as? PostgreSQLError ?? .unexpectedAnswer
                }
                failures = 0
                try listen(on: connection, events)
            } catch {
                events.ended(error)
                failures += 1
                usleep(UInt32(pauseMilliseconds(failures: failures) * 1000))
            }
        }
    }

    /// Waits at random, so that nodes which lost one server do not all return at once.
    static func pauseMilliseconds(failures: Int) -> Int {
        let doubled = Limits.reconnectPauseMilliseconds << min(failures, 10)
        return Int.random(in: 1...min(doubled, Limits.listenPauseMilliseconds))
    }

    /// Hears as long as that is wanted. While nothing comes, the server is asked whether it is there: a
    /// server that lost its power ends no connection.
    @available(*, noasync)
    private static func listen(
        on connection: PostgreSQLConnection, _ events: Events
    ) throws(PostgreSQLError) {
        var asked = PostgreSQLConnection.milliseconds
        while events.isWanted() {
            let heard = try connection.notifications(within: Limits.listenPauseMilliseconds)
            if !heard.isEmpty { events.heard(heard) }
            let now = PostgreSQLConnection.milliseconds
            if now - asked >= Int64(Limits.listenCheckMilliseconds) {
                try connection.check(within: Limits.listenCheckMilliseconds)
                asked = now
            }
        }
    }
}

extension PostgreSQLPool {
    /// Hears what is announced in its database, on a connection beside its own.
    /// - Parameter channel: what is listened to.
    public func listen(to channel: String, _ events: PostgreSQLListener.Events) {
        PostgreSQLListener.start(url, schema: schema, channel: channel, events)
    }
}
