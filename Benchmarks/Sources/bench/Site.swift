import Foundation

/// Where a site's backend keeps its rows.
enum SiteStorage: String, CaseIterable {
    case sqlite, postgresql

    /// The threads of bare-backend: one for each core on SQLite; on PostgreSQL, where they wait for the
    /// server, as many as a node has connections.
    var bareThreads: Int { self == .sqlite ? ProcessInfo.processInfo.activeProcessorCount : 8 }
}

/// Databases of a backend, each filled once in a run through the backend's own routes, and copied for use.
final class Site {
    /// Inserts under way at once while a database is filled.
    private static let fillParallel = 32

    private let stage: Stage
    private let rows: Int
    private let storage: SiteStorage
    /// On PostgreSQL alone.
    private let server: PostgreSQLServer?
    private let folder: URL
    private var copies = 0

    /// Runs something with a site of this many rows.
    static func with<T>(
        _ storage: SiteStorage, rows: Int, in stage: Stage, _ body: (Site) throws -> T
    ) throws -> T {
        let site = try Site(storage, rows, stage)
        defer { site.remove() }
        try site.fill()
        return try body(site)
    }

    private init(_ storage: SiteStorage, _ rows: Int, _ stage: Stage) throws {
        (self.storage, self.rows, self.stage) = (storage, rows, stage)
        folder = stage.places.scratch.appending(path: "site")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        server = storage == .postgresql ? try PostgreSQLServer(in: stage) : nil
    }

    private func remove() {
        server?.stop()
        for name in ["site", "postgresql"] {
            try? FileManager.default.removeItem(at: stage.places.scratch.appending(path: name))
        }
    }

    private func fill() throws {
        stage.say("  filling a backend on \(storage.rawValue) with \(rows) rows")
        try server?.run("CREATE DATABASE filled", in: "postgres")
        try withNode(on: "filled") { node in
            let count: Count = try Program.measure(
                stage.places.program("bare-push"),
                [node.table, String(rows), String(Self.fillParallel), "rows"], in: stage)
            guard count.count == rows else { throw Trouble("\(count.count) rows were inserted.") }
        }
        // Otherwise PostgreSQL does it some time later, beside what is measured.
        try server?.run("VACUUM ANALYZE", in: "filled")
    }

    /// Makes a copy of what was filled.
    /// - Returns: its name.
    func copy() throws -> String {
        copies += 1
        let name = "copy\(copies)"
        if let server {
            try server.run("CREATE DATABASE \(name) TEMPLATE filled", in: "postgres")
            try server.run("CHECKPOINT", in: "postgres")
        } else {
            try stage.stores.clone(
                folder.appending(path: "filled"), folder.appending(path: name))
        }
        return name
    }

    /// Runs something with a node on a copy.
    func withNode<T>(
        on name: String, preload: String? = nil, environment: [String: String] = [:],
        _ body: (BackendNode) throws -> T
    ) throws -> T {
        let database: BackendNode.Database =
            if let server { .postgreSQL(url: server.url(name)) } else {
                .folder(folder.appending(path: name))
            }
        let node = try BackendNode(
            database, in: stage, preload: preload, environment: environment)
        defer { node.stop() }
        return try body(node)
    }

    /// Runs something with bare-backend on a copy. It gets the address of its table.
    func withBareBackend<T>(on name: String, plan: URL, _ body: (String) throws -> T) throws -> T {
        let place =
            server?.url(name)
            ?? folder.appending(path: name).appending(path: "backend.sqlite").path
        let bare = try Program(
            stage.places.program("bare-backend"),
            [storage.rawValue, place, plan.path, String(storage.bareThreads)], in: stage)
        defer { bare.stop() }
        return try body("http://127.0.0.1:\(try bare.firstLine())/tables/todoitem")
    }
}
