import Foundation

/// `understudy-site`, serving a site's database.
final class BackendNode {
    /// Where its rows are.
    enum Database {
        case folder(URL)
        case postgreSQL(url: String)

        fileprivate var arguments: [String] {
            switch self {
            case .folder(let folder): ["--data", folder.path]
            case .postgreSQL(let url): ["--database", url]
            }
        }
    }

    /// How long it may take to start, in seconds.
    private static let startSeconds = 60.0

    let url: String
    private let program: Program

    /// Starts it and waits until it is ready.
    init(
        _ database: Database, in stage: Stage, preload: String? = nil,
        environment: [String: String] = [:]
    ) throws {
        let port = try stage.freePort()
        url = "http://127.0.0.1:\(port)"
        program = try Program(
            stage.places.site.path,
            ["--listen", "127.0.0.1:\(port)"] + database.arguments, in: stage,
            preload: preload, environment: environment)
        let deadline = Date(timeIntervalSinceNow: Self.startSeconds)
        while (try? HTTP.send("GET", "\(url)/-/readyz"))?.status != 200 {
            guard program.isRunning, Date() < deadline else {
                program.stop()
                throw Trouble("understudy-site did not start; see \(stage.places.scratch.path)")
            }
            usleep(5_000)
        }
    }

    func stop() { program.stop() }

    /// The table that all rows use.
    var table: String { "\(url)/tables/todoitem" }
}
