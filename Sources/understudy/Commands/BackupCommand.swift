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
