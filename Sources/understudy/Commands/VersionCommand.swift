import ArgumentParser
import Proxy
import TablesProtocol

/// `understudy version`.
struct VersionCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "version",
        abstract: "The version of this program, its commit, and the libraries that it has loaded.",
        discussion: """
            The commit ends with -changed where the sources were not those of the commit. JSON: \
            {version, commit, libraries: [{name, version}]}.
            """)

    @Flag(help: "Print JSON.")
    var json = false

    func run() {
        let libraries = ProcessReport.Library.linked
        if json {
            let rows = libraries.map { library in
                JSONValue.members(
                    ("name", .string(library.name)), ("version", .string(library.version)))
            }
            return ThisProcess.print(
                json: JSONValue.members(
                    ("version", .string(Version.text)), ("commit", .string(Commit.text)),
                    ("libraries", .array(rows))
                ).text)
        }
        ThisProcess.print("understudy \(Version.text) (\(Commit.text))")
        for library in libraries { ThisProcess.print("\(library.name) \(library.version)") }
    }
}
