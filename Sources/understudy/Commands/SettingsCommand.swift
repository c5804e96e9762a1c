import ArgumentParser

/// `understudy settings …`.
struct SettingsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "settings", abstract: "How the running Understudy syncs, until it is stopped.",
        discussion: "What shall hold after a restart stands in the configuration file.",
        subcommands: [SettingsShow.self, SettingsSet.self], defaultSubcommand: SettingsShow.self)
}
