import Foundation

/// What a store holds when a measurement begins.
enum Contents: Hashable {
    case nothing
    /// Rows of the backend, all pulled, nothing queued.
    case pulled(rows: Int)
    /// Nothing but what clients inserted, all of it queued.
    case queued(operations: Int)
    /// Both.
    case pulledAndQueued(rows: Int, operations: Int)

    var name: String {
        switch self {
        case .nothing: "nothing"
        case .pulled(let rows): "pulled-\(rows)"
        case .queued(let operations): "queued-\(operations)"
        case .pulledAndQueued(let rows, let operations): "pulled-\(rows)-queued-\(operations)"
        }
    }
}

/// Data folders, each filled once in a run through the proxy's own routes, and copied for use.
final class Stores {
    /// Rows that a filling pull asks for in one page, and inserts under way at once.
    private static let fillPageRows = 1000
    private static let fillParallel = 32

    private unowned let stage: Stage
    private var filled: [Contents: URL] = [:]
    private var copies = 0

    init(_ stage: Stage) { self.stage = stage }

    /// Runs something on a copy, which is removed afterwards.
    func withCopy<T>(_ contents: Contents, _ body: (URL) throws -> T) throws -> T {
        let original = try folder(contents)
        copies += 1
        let copy = stage.places.scratch.appending(path: "copy-\(copies)")
        try clone(original, copy)
        defer { try? FileManager.default.removeItem(at: copy) }
        return try body(copy)
    }

    /// The database in a data folder.
    static func file(in folder: URL) -> URL {
        folder.appending(path: "stores/anonymous/store.sqlite")
    }

    private func folder(_ contents: Contents) throws -> URL {
        if let folder = filled[contents] { return folder }
        let folder = stage.places.scratch.appending(path: contents.name)
        switch contents {
        case .nothing:
            stage.say("  making an empty store")
            try stage.withProxy(on: folder) { _ in }
        case .pulled(let rows):
            stage.say("  filling a store with \(rows) rows")
            try stage.withBackend(rows: rows) {
                try stage.withProxy(on: folder) { proxy in
                    try proxy.set(parallelism: 1, pageRows: Self.fillPageRows)
                    _ = try proxy.pull(expecting: rows)
                }
            }
        case .queued(let operations):
            stage.say("  filling a store with \(operations) operations")
            try stage.withProxy(on: folder) { try queue(operations, in: $0) }
        case .pulledAndQueued(let rows, let operations):
            try clone(try self.folder(.pulled(rows: rows)), folder)
            stage.say("  adding \(operations) operations")
            try stage.withProxy(on: folder) { try queue(operations, in: $0) }
        }
        filled[contents] = folder
        return folder
    }

    /// Inserts as a client does.
    func queue(_ operations: Int, in proxy: Proxy) throws {
        let arguments = [proxy.table, String(operations), String(Self.fillParallel)]
        let _: Count = try Program.measure(
            stage.places.program("bare-push"), arguments, in: stage)
        let queued = try proxy.queued()
        guard queued == operations else {
            throw Trouble("\(queued) operations are queued, not \(operations).")
        }
    }

    /// Copies, and waits until the copy is on disk, so that no write-back disturbs what follows.
    func clone(_ original: URL, _ copy: URL) throws {
        _ = try Program("/bin/cp", ["-a", original.path, copy.path], in: stage).finish()
        _ = try Program("/bin/sync", ["-f", copy.path], in: stage).finish()
    }
}
