import Proxy
import SyncCore

// What is kept, how long, and where backups go.
extension Settings {
    static let keepHistory = time(
        "keep-history", hours: keptHours,
        about: SettingText(
            "How long operations that are closed and the history are kept.",
            standard: "30d", example: "30d"))
    static let keepAttempts = time(
        "keep-attempts", hours: keptHours,
        about: SettingText(
            "How long the requests that were made for a closed operation are kept.",
            standard: "7d", example: "7d"))
    static let keepTombstones = time(
        "keep-tombstones", hours: keptHours,
        about: SettingText(
            "How long a deleted row is kept for clients that sync; one that is away for longer "
                + "misses the deletion.",
            standard: "90d", example: "90d"))

    static let historyBudget = bytes(
        "history-budget", from: Limits.keptBytesMin,
        about: SettingText(
            "How many bytes the history of each identity may have; the oldest entries go first.",
            standard: "as many as it needs", example: "200M"))
    static let attemptsBudget = bytes(
        "attempts-budget", from: Limits.keptBytesMin,
        about: SettingText(
            "How many bytes the requests for closed operations may have, for each identity.",
            standard: "as many as they need", example: "50M"))

    static let backupEvery = time(
        "backup-every", hours: Proxy.Limits.backupHours,
        about: SettingText(
            "How often a backup is made by itself.", standard: "never", example: "1d"))

    static let backupKeep = wholeNumber(
        "backup-keep", in: 1...Proxy.Limits.backupsKeptMax,
        about: SettingText(
            "How many backups are kept in the backup folder.",
            standard: "\(Proxy.Limits.backupsKept)", example: "7"))

    static let backupFolder = Setting<String>(
        name: "backup-folder",
        allowed: "the absolute path of a folder, such as /var/backups/understudy",
        about: SettingText(
            "Where these backups go; best on another disk.",
            standard: "backups in the data folder", example: "/var/backups/understudy")
    ) {
        // A relative path would mean another folder in each working directory.
        $0.hasPrefix("/") ? $0 : nil
    }

    private static let keptHours: ClosedRange<Int64> = 1...Limits.keptDaysMax * 24
}

extension ServeConfiguration {
    /// Reads how long what is settled is kept.
    static func retention(_ sources: Sources) throws(ConfigurationProblem) -> Retention {
        var retention = Retention()
        if let value = try sources.value(Settings.keepHistory) { retention.historySeconds = value }
        if let value = try sources.value(Settings.keepAttempts) { retention.attemptSeconds = value }
        if let value = try sources.value(Settings.keepTombstones) {
            retention.tombstoneSeconds = value
        }
        retention.historyBytes = try sources.value(Settings.historyBudget).map(Int64.init)
        retention.attemptBytes = try sources.value(Settings.attemptsBudget).map(Int64.init)
        return retention
    }

    /// Reads the plan of the automatic backups.
    static func backups(_ sources: Sources) throws(ConfigurationProblem) -> BackupPlan {
        var plan = BackupPlan()
        plan.folder = try sources.value(Settings.backupFolder)
        plan.everySeconds = try sources.value(Settings.backupEvery)
        if let keep = try sources.value(Settings.backupKeep) { plan.keep = keep }
        return plan
    }
}
