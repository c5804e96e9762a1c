import ArgumentParser
import Proxy
import TablesProtocol

/// `understudy backup FOLDER`.
struct BackupCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup", abstract: "Copy all stores into a new folder and check the copies.",
        discussion: """
            Works while Understudy runs. The queue is in it, so a backup that was not restored \
            sends nothing twice: what reached the backend since is recognised. JSON: {path, \
            stores: [{identity, bytes, items, openOperations}]}.
            """)

    @Argument(help: "The new folder.")
    var path: String

    @OptionGroup var options: ClientOptions

    func run() throws {
        let entries = try Backup.make(of: try options.folder(), at: path)
        let answer = JSONValue.members(
            ("path", .string(path)), ("stores", .array(entries.map(Backup.json))))
        options.show(answer, TerminalText.backup)
    }
}

/// `understudy restore FOLDER`.
struct Restore: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Check a backup and put its stores into the data folder.",
        discussion: """
            Understudy must be stopped. The stores that are there are kept aside under another \
            name; remove them when all is well. JSON: {path, stores, keptAside}.
            """)

    @Argument(help: "The folder that `understudy backup` made.")
    var path: String

    @Flag(
        help: "Do all of it in a temporary place, change nothing, and say what would be restored.")
    var dryRun = false

    @OptionGroup var confirmation: Confirmation
    @OptionGroup var options: ClientOptions

    func run() throws {
        let folder = try options.folder()
        try FolderOwner.become(of: folder)
        let backup = Backup(path: path)
        var entries = try backup.verified()
        var aside: String?
        if dryRun {
            entries = try backup.rehearse(entries)
        } else {
            let lock = try folder.open()
            defer { lock.release() }
            if folder.hasStore {
                try confirmation.confirm(
                    "The stores in \(folder.path) are replaced by the backup's")
            }
            aside = try backup.restore(entries, to: folder)
        }
        let answer = JSONValue.members(
            ("path", .string(folder.path)), ("stores", .array(entries.map(Backup.json))),
            ("keptAside", .text(aside)))
        options.show(answer) { answer in
            TerminalText.backup(answer)
                + (aside.map { ["What was there before is in \($0)."] } ?? [])
                + (dryRun
                    ? ["The backup can be restored as it is listed here; nothing was changed."]
                    : [])
        }
    }
}
