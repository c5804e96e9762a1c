import ArgumentParser
import Proxy
import TablesProtocol

/// The root command. Each command is in a file of this folder.
struct Understudy: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "understudy",
        abstract: "Stands in for an Azure Mobile Apps backend while it cannot be reached.",
        discussion: """
            Exit codes: 0 done, 1 error, 2 wrong use or no start possible, 3 backend offline, \
            4 conflicts open, 5 quarantined operations open, 6 not running.
            """,
        version: Version.text,
        groupedSubcommands: [
            CommandGroup(name: "Run", subcommands: [Demo.self, Serve.self, BackendCommand.self]),
            CommandGroup(
                name: "Look",
                subcommands: [
                    Open.self, Status.self, Queue.self, Conflicts.self, History.self,
                    Tables.self, Identities.self, RunsCommand.self, Rejections.self,
                    DoctorCommand.self,
                    Config.self, Paths.self,
                    VersionCommand.self,
                ]),
            CommandGroup(name: "Access", subcommands: [Access.self, Sessions.self]),
            CommandGroup(
                name: "Act",
                subcommands: [
                    Sync.self, Push.self, Pull.self, Purge.self, Offline.self, Online.self,
                    SettingsCommand.self, Indexes.self,
                ]),
            CommandGroup(
                name: "Keep",
                subcommands: [
                    BackupCommand.self, Backups.self, Restore.self, Export.self, Import.self,
                    Support.self,
                ]),
        ])

    /// Parses the command line and runs the command. Ends the process with its exit code.
    static func runAsProcess() async {
        do {
            var command = try await asyncParseAsRoot()
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch let problem as StartProblem {
            ThisProcess.sayLines("understudy: \(problem.sentence)")
            ThisProcess.end(problem.exitCode.rawValue)
        } catch let status as ExitStatus {
            ThisProcess.end(status.rawValue)
        } catch {
            let text = fullMessage(for: error)
            if exitCode(for: error).isSuccess {
                ThisProcess.print(own: text)
                ThisProcess.end(ExitStatus.ok.rawValue)
            }
            let suggestion = CommandSuggestion.sentence(
                Array(CommandLine.arguments.dropFirst()), in: Self.self)
            ThisProcess.sayLines([text, suggestion].compactMap(\.self).joined(separator: "\n"))
            ThisProcess.end(ExitStatus.usage.rawValue)
        }
    }
}

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
