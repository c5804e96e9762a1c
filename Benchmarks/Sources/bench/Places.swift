import Foundation

/// Where everything is.
struct Places {
    /// The package of the benchmarks.
    static let package = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()
    static let thresholds = package.appending(path: "thresholds.json")
    static let results = package.appending(path: "results/latest.json")

    /// The measured program.
    let understudy: URL
    /// The program of a site, which is beside it.
    var site: URL { understudy.deletingLastPathComponent().appending(path: "understudy-site") }
    /// What was built beside this program.
    let built: URL
    /// A folder of this run's own, removed at its end.
    let scratch: URL

    init(understudy: String?, scratch: String?) throws {
        let standard = Self.package.deletingLastPathComponent()
            .appending(path: ".build/release/understudy")
        self.understudy = understudy.map { URL(filePath: $0) } ?? standard
        built = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
            .deletingLastPathComponent()
        let base = scratch.map { URL(filePath: $0) } ?? Self.package.appending(path: ".build")
        self.scratch = base.appending(path: "scratch-\(ProcessInfo.processInfo.processIdentifier)")
        guard FileManager.default.isExecutableFile(atPath: self.understudy.path) else {
            throw Trouble(
                "There is no \(self.understudy.path). Build it with 'make build', or name it with "
                    + "--binary.")
        }
        try FileManager.default.createDirectory(
            at: self.scratch, withIntermediateDirectories: true)
    }

    /// Where a bare program makes a database of this name; what one made there before is removed.
    func emptyFile(_ name: String) throws -> URL {
        let file = scratch.appending(path: name)
        for path in ["", "-wal", "-shm"].map({ file.path + $0 })
        where FileManager.default.fileExists(atPath: path) {
            try FileManager.default.removeItem(atPath: path)
        }
        return file
    }

    /// One of the bare programs.
    func program(_ name: String) -> String { built.appending(path: name).path }

    /// One of the libraries to preload.
    func shim(_ name: String) -> String { built.appending(path: "lib\(name).so").path }

    var loadScript: String { Self.package.appending(path: "load.lua").path }
}

/// Why something could not be measured, in a sentence.
struct Trouble: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
