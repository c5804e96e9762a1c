import ArgumentParser

/// `understudy tables …`.
struct Tables: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "The tables here, and how each is read and written.",
        subcommands: [TablesList.self, TablesSet.self, TablesSetAside.self],
        defaultSubcommand: TablesList.self)
}
