package import Proxy
import TablesProtocol

/// What `version` says: the program's version, its commit, and the libraries that it has loaded.
package struct VersionReport {
    private let program: String
    private let libraries: [ProcessReport.Library]

    package init(program: String, libraries: [ProcessReport.Library]) {
        (self.program, self.libraries) = (program, libraries)
    }

    /// Prints it.
    package func print(json: Bool) {
        if json {
            let rows = libraries.map { library in
                JSONValue.object([
                    .init("name", .string(library.name)),
                    .init("version", .string(library.version)),
                ])
            }
            return ThisProcess.print(
                json: JSONValue.object([
                    .init("version", .string(Version.text)), .init("commit", .string(Commit.text)),
                    .init("libraries", .array(rows)),
                ]).text)
        }
        ThisProcess.print("\(program) \(Version.text) (\(Commit.text))")
        for library in libraries { ThisProcess.print("\(library.name) \(library.version)") }
    }
}
