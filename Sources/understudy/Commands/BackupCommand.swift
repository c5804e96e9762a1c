import ArgumentParser
import Platform
import Program
import Proxy
import TablesProtocol

struct BackupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup", abstract: "Copy all stores into a new folder and check the copies.",
        discussion: """
            Works while Understudy runs. Without a folder the running Understudy makes the backup in \
            its backup folder, named by the time, and removes those that are more than backup-keep. \
            The queue is in it, so a backup that was not restored sends nothing twice: what reached \
            the backend since is recognised. JSON: {path, stores: [{identity, bytes, items, \
            openOperations}]}.
            """)

    @Argument(
        help: "The new folder. (default: in the backup folder of the running Understudy)",
        completion: .directory)
    var path: String?

    @OptionGroup var options: ClientOptions

    func run() async throws {
        guard let path else {
            let made = try await options.withOperator { try await $0.answer(BackupRoutes.make()) }
            return options.show(made) { TerminalText.backup($0.path, $0.stores) }
        }
        let copy = Copy(path: path, stores: try Self.make(of: try options.folder(), at: path))
        options.show(copy) { TerminalText.backup($0.path, $0.stores) }
    }

    /// A backup in a folder that was named.
    private struct Copy: Encodable {
        let path: String
        let stores: [Backup.Entry]
    }

    // Blocks, which does no harm: nothing else runs in this process.
    private static func make(
        of folder: DataFolder, at path: String
    ) throws(StartProblem) -> [Backup.Entry] {
        try Backup.make(of: folder, at: path)
    }
}

struct Backups: RequestCommand {
    static let configuration = CommandConfiguration(
        abstract: "The backups that were made by themselves, and when the next one is due.",
        discussion: """
            The latest comes first. JSON: {items: [{path, at}], next, total, folder, everySeconds, \
            keep, failure, nextAt}.
            """)
    static let needsServer = true

    @OptionGroup var options: ClientOptions

    var request: RouteRequest<Answers.BackupPage> { BackupRoutes.list() }

    func lines(_ list: Answers.BackupPage) -> [String] { TerminalText.backups(list) }

    func end(_ list: Answers.BackupPage) throws {
        if list.failure != nil { throw ExitStatus.error }
    }
}

struct Restore: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Check a backup and put its stores into the data folder.",
        discussion: """
            Understudy must be stopped. The stores that are there are kept aside under another \
            name; remove them when all is well. JSON: {path, backup, stores, keptAside}.
            """)

    @Argument(
        help: "The folder that `understudy backup` made; not with --date.", completion: .directory)
    var path: String?

    @Option(
        help: ArgumentHelp(
            """
            Take the latest automatic backup that was begun by then: 2026-11-21 (the end of that day), \
            2026-11-21T18:30 or a whole time, in UTC.
            """, valueName: "date"))
    var date: String?

    @Flag(
        help: "Do all of it in a temporary place, change nothing, and say what would be restored.")
    var dryRun = false

    @OptionGroup var confirmation: Confirmation
    @OptionGroup var options: ClientOptions

    func run() async throws { try restore() }

    private func restore() throws {
        let folder = try options.folder()
        try FolderOwner.become(of: folder)
        let backup = try chosen(folder)
        var entries = try backup.verified()
        var aside: String?
        if dryRun {
            entries = try backup.rehearse(entries)
        } else {
            let lock = try folder.open(isRestoring: true, tell: ThisProcess.say)
            defer { lock.release() }
            if folder.hasStore {
                try confirmation.confirm(
                    "The stores in \(folder.path) are replaced by those of \(backup.path)")
            }
            aside = try backup.restore(entries, to: folder)
        }
        let restored = Restored(
            path: folder.path, backup: backup.path, stores: entries, keptAside: aside)
        options.show(restored) { restored in
            TerminalText.backup(restored.path, restored.stores)
                + (aside.map { ["What was there before is in \($0)."] } ?? [])
                + (dryRun
                    ? ["The backup can be restored as it is listed here; nothing was changed."]
                    : [])
        }
    }

    private struct Restored: Encodable {
        let path: String
        let backup: String
        let stores: [Backup.Entry]
        let keptAside: String?
    }

    /// The backup that is named by its folder or by a date.
    private func chosen(_ folder: DataFolder) throws(StartProblem) -> Backup {
        switch (path, date) {
        case (let path?, nil): return Backup(path: path)
        case (nil, let date?):
            let kept = try backupFolder(folder)
            guard let end = BackupFolder.end(of: date) else {
                throw StartProblem(
                    "--date is \"\(date)\", but must be a day such as 2026-11-21, a minute such as "
                        + "2026-11-21T18:30, or a whole time in UTC.")
            }
            guard let found = kept.latest(by: end) else {
                let first = kept.backups.first.map { "; the oldest there is of \($0.at.text)" }
                throw StartProblem(
                    "No backup in \(kept.path) was made by \(date)\(first ?? "").", .error)
            }
            return Backup(path: found.path)
        case (nil, nil), (_?, _?):
            throw StartProblem("Name the folder of a backup, or the day with --date.")
        }
    }

    private func backupFolder(_ folder: DataFolder) throws(StartProblem) -> BackupFolder {
        let sources = try options.sources()
        do {
            let said = try sources.value(Settings.backupFolder)
            return BackupFolder(path: said ?? BackupFolder.standardPath(of: folder))
        } catch {
            throw error.startProblem
        }
    }
}
