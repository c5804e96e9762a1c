import Dispatch
import GRDB
public import HTTPMessage
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

extension TablesBackend: HTTPHandler {
    /// Takes any head; the body is bounded. The control paths are asked by a name of this machine
    /// alone: a web page may have led another one here.
    public func admit(_ request: Request) -> Admission {
        if options.servesFaults, Call(request).isControl, !isOwnName(request) {
            return .refuse(
                Response(
                    status: .misdirectedRequest, headerFields: [.contentType: "application/json"],
                    body: Array(
                        #"{"error":"Ask for this at 127.0.0.1 or localhost, with the port."}"#.utf8)
                ))
        }
        return .accept(bodyLimitBytes: bodyLimitBytes(request))
    }

    /// Answers a request on the server's own thread, or later when the faults have it wait.
    public func handle(_ request: Request) -> Answer {
        let call = Call(request)
        if let answer = controlAnswer(call) { return .now(answer) }
        let plan = plan(call)
        guard plan.latencyMilliseconds > 0 else { return .now(serve(call, plan.fault)) }
        return .later { reply in
            let time = DispatchTime.now() + .milliseconds(plan.latencyMilliseconds)
            DispatchQueue.global().asyncAfter(deadline: time) {
                reply(self.serve(call, plan.fault))
            }
        }
    }

    /// Answers a request at once, in process; latencies do not count.
    ///
    /// A dropped answer is a response whose stream has failed without a byte, a torn one a response
    /// whose stream fails half-way.
    @available(*, noasync)
    public func respond(to request: Request) -> Response {
        let call = Call(request)
        return controlAnswer(call) ?? serve(call, plan(call).fault)
    }

    private func isOwnName(_ request: Request) -> Bool {
        ["127.0.0.1", "localhost", "[::1]"].contains { name in
            request.head.authority == "\(name):\(request.connection.localPort)"
        }
    }

    private func plan(_ call: Call) -> FaultPlan {
        control.withLock { control in
            control.plan(call) { probability in random.happens(probability) }
        }
    }
}

/// The backend's one source of randomness, for ids, versions and faults.
final class SharedRandom: Sendable {
    private let generator: Mutex<any RandomNumberGenerator & Sendable>

    init(_ generator: any RandomNumberGenerator & Sendable) {
        self.generator = Mutex(generator)
    }

    /// A new id in the form that servers of the generation give.
    func id(_ generation: Generation) -> String {
        var source = Source(shared: self)
        return ItemID.make(generation: generation, random: &source).text
    }

    /// Random bytes.
    func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8(truncatingIfNeeded: next()) }
    }

    /// True with this probability.
    func happens(_ probability: Double) -> Bool {
        Double(next() >> 11) * 0x1p-53 < probability
    }

    private func next() -> UInt64 { generator.withLock { $0.next() } }

    private struct Source: RandomNumberGenerator {
        let shared: SharedRandom
        mutating func next() -> UInt64 { shared.next() }
    }
}
