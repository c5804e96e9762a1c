import ArgumentParser
import Program

/// The options on how long things are kept, and on automatic backups.
struct KeepingOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "How long closed operations and the history are kept, such as 30d. (default: 30d)",
            valueName: "time"))
    var keepHistory: String?

    @Option(
        help: ArgumentHelp(
            "How long the requests for a closed operation are kept. (default: 7d)",
            valueName: "time"))
    var keepAttempts: String?

    @Option(
        help: ArgumentHelp(
            "How long a deleted row is kept for clients that sync. (default: 90d)",
            valueName: "time"))
    var keepTombstones: String?

    @Option(
        help: ArgumentHelp(
            "How many bytes the history of each identity may have, such as 200M.",
            valueName: "size"))
    var historyBudget: String?

    @Option(
        help: ArgumentHelp(
            "How many bytes the requests for closed operations may have, such as 50M.",
            valueName: "size"))
    var attemptsBudget: String?

    @Option(
        help: ArgumentHelp(
            "How often a backup is made by itself, such as 12h or 1d. (default: never)",
            valueName: "time"))
    var backupEvery: String?

    @Option(
        help: ArgumentHelp(
            "How many backups are kept in the backup folder. (default: 7)", valueName: "number"))
    var backupKeep: String?

    @Option(
        help: ArgumentHelp(
            "Where these backups go, an absolute path. (default: backups in the data folder)",
            valueName: "path"),
        completion: .directory)
    var backupFolder: String?

    /// The flags by the names of their settings.
    var flags: [String: [String]] {
        [
            Settings.keepHistory.name: keepHistory.map { [$0] } ?? [],
            Settings.keepAttempts.name: keepAttempts.map { [$0] } ?? [],
            Settings.keepTombstones.name: keepTombstones.map { [$0] } ?? [],
            Settings.historyBudget.name: historyBudget.map { [$0] } ?? [],
            Settings.attemptsBudget.name: attemptsBudget.map { [$0] } ?? [],
            Settings.backupEvery.name: backupEvery.map { [$0] } ?? [],
            Settings.backupKeep.name: backupKeep.map { [$0] } ?? [],
            Settings.backupFolder.name: backupFolder.map { [$0] } ?? [],
        ]
    }
}
