import ArgumentParser
import Platform
import Program
import Proxy

/// The root command. Each command is in a file of this folder.
struct Understudy: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "understudy",
        abstract: "Stands in for an Azure Mobile Apps backend while it cannot be reached.",
        discussion: """
            Exit codes: 0 done, 1 error, 2 wrong use or no start possible, 3 backend offline, \
            4 conflicts open, 5 refused operations open, 6 not running.
            """,
        version: Version.text,
        groupedSubcommands: [
            CommandGroup(name: "Run", subcommands: [Demo.self, Serve.self, Backend.self]),
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
                    SettingsCommand.self, Notify.self,
                ]),
            CommandGroup(
                name: "Keep",
                subcommands: [
                    BackupCommand.self, Backups.self, Restore.self, Export.self, Import.self,
                ]),
        ])
}

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
        VersionReport(program: "understudy", libraries: ProcessReport.Library.shared)
            .print(json: json)
    }
}
