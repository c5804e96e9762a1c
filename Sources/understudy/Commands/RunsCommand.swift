import ArgumentParser

/// `understudy runs …`.
struct RunsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "runs",
        abstract: "Syncs, pushes and pulls: the latest, and the one under way.",
        subcommands: [RunsList.self, RunsCancel.self], defaultSubcommand: RunsList.self)
}
