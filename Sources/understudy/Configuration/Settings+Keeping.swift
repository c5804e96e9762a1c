import Proxy
import SyncCore

// What is kept, how long, and where backups go.
extension Settings {
    static let keepHistory = time(
        "keep-history",
        about: SettingText(
            "How long operations that are closed and the history are kept.",
            standard: "30d", example: "30d"))
    static let keepAttempts = time(
        "keep-attempts",
        about: SettingText(
            "How long the requests that were made for a closed operation are kept.",
            standard: "7d", example: "7d"))
    static let keepTombstones = time(
        "keep-tombstones",
        about: SettingText(
            "How long a deleted row is kept for clients that sync; one that is away for longer "
                + "misses the deletion.",
            standard: "90d", example: "90d"))

    static let historyBudget = bytes(
        "history-budget",
        about: SettingText(
            "How many bytes the history of each identity may have; the oldest entries go first.",
            standard: "as many as it needs", example: "200M"))
    static let attemptsBudget = bytes(
        "attempts-budget",
        about: SettingText(
            "How many bytes the requests for closed operations may have, for each identity.",
            standard: "as many as they need", example: "50M"))

    static let backupEvery = Setting<Int64>(
        name: "backup-every",
        allowed:
            "hours or days up to \(Proxy.Limits.backupHours.upperBound / 24)d, such as 12h or 1d",
        about: SettingText(
            "How often a backup is made by itself.", standard: "never", example: "1d")
    ) { text in
        seconds(text).flatMap { seconds in
            Proxy.Limits.backupHours.contains(seconds / 3600) ? seconds : nil
        }
    }

    static let backupKeep = Setting<Int>(
        name: "backup-keep",
        allowed: "a whole number from 1 to \(Proxy.Limits.backupsKeptMax)",
        about: SettingText(
            "How many backups are kept in the backup folder.",
            standard: "\(Proxy.Limits.backupsKept)", example: "7")
    ) { text in
        Int(text).flatMap { (1...Proxy.Limits.backupsKeptMax).contains($0) ? $0 : nil }
    }

    static let backupFolder = Setting<String>(
        name: "backup-folder", allowed: "the path of a folder",
        about: SettingText(
            "Where these backups go; best on another disk.",
            standard: "backups in the data folder", example: "/var/backups/understudy")
    ) { $0.isEmpty ? nil : absolute($0) }

    private static func time(_ name: String, about: SettingText) -> Setting<Int64> {
        Setting<Int64>(
            name: name,
            allowed: "hours or days from 1h to \(Limits.keptDaysMax)d, such as 12h or 30d",
            about: about
        ) { text in
            seconds(text).flatMap { (3600...Limits.keptDaysMax * 86_400).contains($0) ? $0 : nil }
        }
    }

    private static func bytes(_ name: String, about: SettingText) -> Setting<Int> {
        Setting<Int>(name: name, allowed: "a size from 1M up, such as 50M or 2G", about: about) {
            size($0, from: 1 << 20)
        }
    }

    /// `12h` or `30d` in seconds.
    private static func seconds(_ text: String) -> Int64? {
        let units: [Character: Int64] = ["h": 3600, "d": 86_400]
        guard let unit = text.last.flatMap({ units[$0] }), let number = Int64(text.dropLast()),
            (1...Limits.keptDaysMax * 24).contains(number)
        else { return nil }
        return number * unit
    }
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
