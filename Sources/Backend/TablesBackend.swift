import GRDB
import HTTPMessage
import HTTPTypes
import Synchronization
public import TablesProtocol

/// A complete `/tables` server on SQLite: the other side of the proxy.
///
/// It shares no code with the engine. The demo runs it as its backend; tests run it in process and
/// ask it afterwards what took effect, how often and in which order.
public final class TablesBackend: Sendable {
    let options: BackendOptions
    let profile: Profile
    let database: DatabaseQueue
    let clock: @Sendable () -> Instant
    let random: SharedRandom
    let control: Mutex<Control>

    /// Opens the backend.
    ///
    /// - Parameters:
    ///   - path: the database file; nil keeps everything in memory.
    ///   - options: what the backend is like.
    ///   - clock: the time; it may jump.
    ///   - random: where ids, random versions and the chances of faults come from.
    /// - Throws: GRDB's error when the file cannot be opened or is none of this backend.
    public init(
        at path: String? = nil, options: BackendOptions = BackendOptions(),
        clock: @escaping @Sendable () -> Instant,
        random: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
    ) throws {
        self.options = options
        self.clock = clock
        self.random = SharedRandom(random)
        profile = Profile(options)
        control = Mutex(Control())
        database = try Self.open(path)
        try database.write { database in
            try Schema.create(database)
            for (name, table) in options.tables { try Tables.create(database, name, table) }
        }
    }

    private static func open(_ path: String?) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.prepareDatabase { database in
            for function in SQLFunction.all { database.add(function: function.registered) }
            if path != nil { try database.execute(sql: "PRAGMA journal_mode = WAL") }
            try database.execute(sql: "PRAGMA synchronous = FULL")
        }
        guard let path else { return try DatabaseQueue(configuration: configuration) }
        return try DatabaseQueue(path: path, configuration: configuration)
    }
}
