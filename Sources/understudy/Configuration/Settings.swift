import HTTPServer
import Logging
import Proxy
import SyncCore
import TablesProtocol

/// The settings of `serve`, `demo` and `backend`.
enum Settings {
    static let backend = Setting<BackendAddress>(
        name: "backend",
        allowed: "an http or https address such as https://example.azurewebsites.net",
        about: SettingText(
            "The backend to stand in for.",
            standard: "none; it must be said", example: "https://example.azurewebsites.net")
    ) { BackendAddress($0) }

    static let listen = Setting<ListenAddress>(
        name: "listen", allowed: "a loopback address with a port, such as 127.0.0.1:8080",
        about: SettingText(
            "Where clients find Understudy.",
            standard: "127.0.0.1:8080", example: "127.0.0.1:8080")
    ) { loopback($0) }

    static let backendListen = Setting<ListenAddress>(
        name: "backend-listen", allowed: "a loopback address with a port, such as 127.0.0.1:8081"
    ) { loopback($0) }

    static let data = Setting<DataFolder>(
        name: "data", allowed: "the path of a folder",
        about: SettingText(
            "The folder for everything that is kept.",
            standard: "understudy in $XDG_DATA_HOME or ~/.local/share",
            example: "/home/me/.local/share/understudy")
    ) { $0.isEmpty ? nil : DataFolder(path: absolute($0)) }

    static let sync = Setting<SyncChoice>(
        name: "sync", allowed: SyncChoice.allCases.map(\.rawValue).joined(separator: " or "),
        about: SettingText(
            "Whether changes travel by themselves or only when a sync is asked for.",
            standard: "auto", example: "auto")
    ) { SyncChoice(rawValue: $0) }

    static let table = Setting<TableSetting>(
        name: "table",
        allowed:
            "the name of a table, letters, digits and _, not a digit first; to copy a part of it "
            + "with a filter, such as todoitem?$filter=complete eq false",
        about: SettingText(
            "The only tables there are; with a filter, the rows of them that are copied.",
            standard: "any", example: "todoitem?$filter=complete eq false", isList: true),
        refusal: TableSetting.refusal
    ) { TableSetting($0) }

    static let policy = Setting<PolicySetting>(
        name: "policy",
        allowed: "a table with words joined by +, such as todoitem=revalidate+write-through; the "
            + "words are local, revalidate, remote-first, write-through, ask, merge, client, server, "
            + "unconditional-ask, unconditional-client, integer-ids, public, preserve-history and "
            + "parent:TABLE.COLUMN",
        about: SettingText(
            "How a table is read and written, and who decides its conflicts.",
            standard: "local+ask for each table", example: "todoitem=revalidate+write-through",
            isList: true)
    ) { PolicySetting($0) }

    static let allowHost = Setting<String>(
        name: "allow-host", allowed: "a host with its port, such as 10.0.2.2:8080",
        about: SettingText(
            "Another name with port by which clients call Understudy.",
            standard: "none", example: "10.0.2.2:8080", isList: true)
    ) { isHostWithPort($0) ? $0 : nil }

    static let allowOrigin = Setting<String>(
        name: "allow-origin",
        allowed: "an origin as browsers send it, such as http://localhost:3000, file:// or null",
        about: SettingText(
            "The origin of another page that may call /tables.",
            standard: "none", example: "http://localhost:3000", isList: true)
    ) { isOrigin($0) ? $0 : nil }

    static let defaultGeneration = Setting<Generation>(
        name: "default-generation", allowed: "1, 2 or 3",
        about: SettingText(
            "The generation of clients that show no mark of theirs.",
            standard: "2", example: "2")
    ) { Int($0).flatMap(Generation.init(rawValue:)) }

    static let applicationKeyFile = path(
        "application-key-file",
        allowed: "the path of a file with the application key in its first line",
        about: SettingText(
            "A file with the application key of a generation 1 backend.",
            standard: "the key that its clients send", example: "/etc/understudy/application.key"))

    static let parallelism = wholeNumber(
        "parallelism", in: 1...SyncLimits.parallelPushes,
        about: SettingText(
            "How many changes of different items are sent at once.",
            standard: "1", example: "4"))

    static let pageSize = wholeNumber(
        "page-size", in: 1...SyncLimits.pullPageRows,
        about: SettingText(
            "Rows that a pull asks for in one page; the backend may give fewer.",
            standard: "1000", example: "100"))

    static let strictSDK = yesOrNo(
        "strict-sdk",
        about: SettingText(
            "Whether the writes that the SDKs' queues refuse are refused.",
            standard: "no", example: "yes"))

    static let backendGeneration = Setting<BackendConfiguration.GenerationChoice>(
        name: "backend-generation", allowed: "auto, 1, 2 or 3",
        about: SettingText(
            "The backend's generation; auto asks it.",
            standard: "auto", example: "auto")
    ) { text in
        text == "auto"
            ? .auto : Int(text).flatMap(Generation.init(rawValue:)).map { .fixed($0) }
    }

    static let logLevel = Setting<Logger.Level>(
        name: "log-level",
        allowed: "one of \(Logger.Level.allCases.map(\.rawValue).joined(separator: ", "))",
        about: SettingText(
            "The least that the log says; debug: each request.",
            standard: "notice", example: "notice")
    ) { Logger.Level(rawValue: $0) }

    static let logFormat = Setting<LogFormat>(
        name: "log-format", allowed: "auto, text or json",
        about: SettingText(
            "Lines for a person, or JSON; auto: text on a terminal.",
            standard: "auto", example: "auto")
    ) { LogFormat(rawValue: $0) }

    static func loopback(_ text: String) -> ListenAddress? {
        guard let address = try? ListenAddress(text) else { return nil }
        return address.isLoopback ? address : nil
    }

    static func absolute(_ path: String) -> String {
        if path.hasPrefix("/") { return path }
        guard let folder = ThisProcess.folder else { return path }
        return folder == "/" ? "/\(path)" : "\(folder)/\(path)"
    }

    private static func isHostWithPort(_ text: String) -> Bool {
        guard let colon = text.lastIndex(of: ":"), colon != text.startIndex else { return false }
        return UInt16(text[text.index(after: colon)...]) != nil
            && !text.contains { $0 == "/" || $0 == "*" || $0 == " " || $0 == "," }
    }

    private static func isOrigin(_ text: String) -> Bool {
        if text == "null" { return true }
        guard let mark = text.firstRange(of: "://"), mark.lowerBound != text.startIndex else {
            return false
        }
        return !text[mark.upperBound...].contains { $0 == "/" || $0 == "*" || $0 == " " }
    }
}

/// When the store syncs.
enum SyncChoice: String, Sendable, Hashable, CaseIterable {
    /// After writes, every minute, when the backend can be reached again, and for reads.
    case auto
    /// Only on request.
    case manual

    /// The triggers of a sync.
    var triggers: Set<Trigger> {
        switch self {
        case .auto: Set(Trigger.allCases)
        case .manual: [.manual]
        }
    }
}

/// The format of the log.
enum LogFormat: String, Sendable, Hashable, CaseIterable {
    /// Text on a terminal, otherwise JSON.
    case auto
    /// Lines of text.
    case text
    /// One JSON object on each line.
    case json
}
