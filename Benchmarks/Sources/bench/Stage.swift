import Foundation

/// What every row needs: sizes, places, and the servers.
final class Stage {
    let places: Places
    /// 1 for the sizes that the thresholds are for; less to try things out.
    let scale: Double
    let rounds: Int
    /// Every backend of a run listens here, one after another: a store belongs to its address.
    private(set) var backendPort = 0
    private(set) lazy var stores = Stores(self)

    init(places: Places, scale: Double, rounds: Int) throws {
        self.places = places
        self.scale = scale
        self.rounds = rounds
        backendPort = try freePort()
    }

    /// A number of rows or operations at this scale.
    func size(_ full: Int) -> Int { max(Int(Double(full) * scale), 100) }

    /// A length of load at this scale, in whole seconds, as wrk takes them.
    func seconds(_ full: Double) -> Double { max((full * scale).rounded(), 1) }

    /// A port that was free a moment ago.
    func freePort() throws -> Int {
        let program = try Program(places.program("quiet-backend"), ["0", "0", "0"], in: self)
        defer { program.stop() }
        return Int(try program.firstLine()) ?? 0
    }

    var backendURL: String { "http://127.0.0.1:\(backendPort)" }

    /// How the ids of a backend's rows follow each other.
    enum IDs: CaseIterable { case scattered, inOrder }

    /// Runs something with a backend in reach.
    func withBackend<T>(
        rows: Int, ids: IDs = .scattered, latencyMilliseconds: Int = 0, _ body: () throws -> T
    ) throws -> T {
        let arguments =
            [backendPort, rows, latencyMilliseconds].map(String.init)
            + (ids == .inOrder ? ["in-order"] : [])
        let backend = try Program(places.program("quiet-backend"), arguments, in: self)
        defer { backend.stop() }
        _ = try backend.firstLine()
        return try body()
    }

    /// Runs something with a proxy on a data folder.
    func withProxy<T>(
        on folder: URL, preload: String? = nil, environment: [String: String] = [:],
        _ body: (Proxy) throws -> T
    ) throws -> T {
        let proxy = try Proxy(on: folder, in: self, preload: preload, environment: environment)
        defer { proxy.stop() }
        return try body(proxy)
    }

    /// Says what is going on, beside the table.
    func say(_ text: String) {
        FileHandle.standardError.write(Data("\(text)\n".utf8))
    }
}
