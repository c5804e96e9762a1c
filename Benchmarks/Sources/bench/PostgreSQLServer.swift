import Foundation

/// A PostgreSQL of Debian's package for this run: its files in the scratch folder, a Unix socket alone, and as
/// the user postgres where the harness runs as root. What it commits is on disk, as by default.
final class PostgreSQLServer {
    private static let port = 5432
    /// How long it may take to start, in seconds.
    private static let startSeconds = 60.0
    private static let connections = 100

    private let stage: Stage
    private let folder: URL
    private let programs: URL
    private let server: Program

    init(in stage: Stage) throws {
        self.stage = stage
        programs = try Self.programs()
        folder = stage.places.scratch.appending(path: "postgresql")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        if getuid() == 0 {
            _ = try Program("/bin/chown", ["postgres:", folder.path], in: stage).finish()
        }
        let data = folder.appending(path: "data").path
        _ = try Self.unprivileged(
            programs.appending(path: "initdb").path,
            ["-D", data, "-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C.UTF-8"],
            in: stage
        ).finish()
        server = try Self.unprivileged(
            programs.appending(path: "postgres").path,
            [
                "-D", data, "-c", "listen_addresses=", "-c",
                "unix_socket_directories=\(folder.path)", "-c", "port=\(Self.port)", "-c",
                "max_connections=\(Self.connections)",
            ], in: stage)
        try waitUntilReady()
    }

    /// Stops it; its files go with the scratch folder.
    func stop() { server.interrupt() }

    /// A database, as libpq reads it.
    func url(_ database: String) -> String {
        "postgresql:///\(database)?host=\(folder.path)&port=\(Self.port)&user=postgres"
    }

    /// Runs a statement in a database.
    func run(_ statement: String, in database: String) throws {
        _ = try Program(
            programs.appending(path: "psql").path,
            ["-XAtq", "-v", "ON_ERROR_STOP=1", "-d", url(database), "-c", statement], in: stage
        ).finish()
    }

    private func waitUntilReady() throws {
        let deadline = Date(timeIntervalSinceNow: Self.startSeconds)
        while true {
            do { return try run("SELECT 1", in: "postgres") } catch {
                guard server.isRunning, Date() < deadline else {
                    stop()
                    throw Trouble("PostgreSQL did not start; see \(stage.places.scratch.path)")
                }
                usleep(50_000)
            }
        }
    }

    /// The folder of the newest PostgreSQL's programs.
    private static func programs() throws -> URL {
        let versions = URL(filePath: "/usr/lib/postgresql")
        let names = (try? FileManager.default.contentsOfDirectory(atPath: versions.path)) ?? []
        guard let newest = names.compactMap({ Int($0) }).max() else {
            throw Trouble(
                "PostgreSQL is not installed. Run scripts/setup bench, or as root: "
                    + "apt-get install postgresql")
        }
        return versions.appending(path: "\(newest)/bin")
    }

    /// Starts a program that refuses to run as root.
    private static func unprivileged(
        _ program: String, _ arguments: [String], in stage: Stage
    ) throws -> Program {
        guard getuid() == 0 else { return try Program(program, arguments, in: stage) }
        let user = ["--reuid=postgres", "--regid=postgres", "--clear-groups"]
        return try Program("/usr/bin/setpriv", user + [program] + arguments, in: stage)
    }
}
