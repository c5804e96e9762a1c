import ArgumentParser

/// `understudy config …`.
struct Config: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "What is configured, and where it was said.",
        subcommands: [ConfigShow.self, ConfigInit.self], defaultSubcommand: ConfigShow.self)
}
