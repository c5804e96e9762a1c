import HTTPServer
import Platform
import Program
import Proxy
import SyncCore
import TablesProtocol

// The settings of `serve` and `demo`.
extension Settings {
    static let backend = Setting<BackendAddress>(
        name: "backend",
        allowed: "an http or https address such as https://example.azurewebsites.net",
        about: SettingText(
            "The backend to stand in for.", valueName: "url",
            standard: "none; it must be said", example: "https://example.azurewebsites.net")
    ) { BackendAddress($0) }

    static let listen = Setting<ListenAddress>(
        name: "listen", allowed: "a loopback address with a port, such as 127.0.0.1:8080",
        about: SettingText(
            "Where clients find Understudy; a loopback address.", valueName: "address",
            standard: "127.0.0.1:8080", example: "127.0.0.1:8080")
    ) { loopback($0) }

    static let backendListen = Setting<ListenAddress>(
        name: "backend-listen", allowed: "a loopback address with a port, such as 127.0.0.1:8081",
        about: SettingText(
            "Where the backend of the demo listens.", valueName: "address",
            standard: "127.0.0.1:8081", example: "127.0.0.1:8081")
    ) { loopback($0) }

    static let sync = Setting<SyncChoice>(
        name: "sync", allowed: SyncChoice.allCases.map(\.rawValue).joined(separator: " or "),
        about: SettingText(
            "Whether changes travel by themselves (auto), or only when a sync is asked for (manual).",
            valueName: "choice", standard: "auto", example: "auto"),
        reload: .engines { $0.triggers = $1.triggers }
    ) { SyncChoice(rawValue: $0) }

    static let checkCopies = Setting<Duration>(
        name: "check-copies", allowed: "off, or a time from 1s to 30d, such as 30m or 1h",
        about: SettingText(
            "How often each table's copy is checked against the backend, by the number of its rows and each "
                + "24th time, or once a day, by all ids and versions; or off.", valueName: "time",
            standard: "1h", example: "1h"), reload: .engines { $0.checkCopies = $1.checkCopies }
    ) { text in
        if text == "off" { return .zero }
        let units: [Character: Int] = ["s": 1, "m": 60, "h": 3_600, "d": 86_400]
        guard let unit = text.last.flatMap({ units[$0] }), let number = Int(text.dropLast()),
            (1...30 * 86_400 / unit).contains(number)
        else { return nil }
        return .seconds(number * unit)
    }

    static let table = Setting<TableSetting>(
        name: "table",
        allowed:
            "the name of a table, letters, digits and _, not a digit first; to copy a part of it "
            + "with a filter, such as todoitem?$filter=complete eq false",
        about: SettingText(
            "The only tables there are. With a filter, such as 'todoitem?$filter=complete eq false', "
                + "only these rows are copied.", valueName: "name",
            standard: "any", example: "todoitem?$filter=complete eq false", isList: true),
        refusal: TableSetting.refusal
    ) { TableSetting($0) }

    static let trustTable = Setting<TableName>(
        name: "trust-table",
        allowed: "the name of a table, letters, digits and _, not a digit first",
        about: SettingText(
            "A table that takes writes and gives no list: its writes are sent although no list proves the "
                + "backend.", valueName: "name", standard: "none", example: "feedback", isList: true
        ),
        reload: .engines { $0.trustedTables = $1.trustedTables }
    ) { TableName($0) }

    static let policy = Setting<PolicySetting>(
        name: "policy",
        allowed: "a table with words joined by +, such as todoitem=revalidate+write-through; the "
            + "words are standard, local, revalidate, remote-first, write-through, ask, merge, client, "
            + "server, unconditional-ask, unconditional-client, integer-ids, public, preserve-history, "
            + "paused, paused-pushes, paused-pulls and "
            + "parent:TABLE.COLUMN and index:COLUMN; or * for all tables with the first five of them",
        about: SettingText(
            "How a table is read and written, and who decides its conflicts: words joined by +, such "
                + "as todoitem=revalidate+write-through. With * how all tables are that say nothing else, "
                + "such as *=local.", valueName: "table=words",
            standard: "revalidate+write-through+ask with --sync auto, local+ask with --sync manual",
            example: "todoitem=revalidate+write-through",
            isList: true), reload: .policies, refusal: PolicySetting.refusal
    ) { PolicySetting($0) }

    static let apiSync = Setting<Bool>(
        name: "api-sync", allowed: "on or off",
        about: SettingText(
            "Whether a client's changes are sent before its call of a custom API, and its tables pulled "
                + "after it (on), or the call is passed on as it is (off).",
            valueName: "choice", standard: "on", example: "on")
    ) { ["on": true, "off": false][$0] }

    static let allowHost = Setting<String>(
        name: "allow-host", allowed: "a host with its port, such as 10.0.2.2:8080",
        about: SettingText(
            "Another name with port by which clients call Understudy, such as 10.0.2.2:8080.",
            valueName: "name:port", standard: "none", example: "10.0.2.2:8080", isList: true),
        reload: .replaced
    ) { isHostWithPort($0) ? $0 : nil }

    static let allowOrigin = Setting<String>(
        name: "allow-origin",
        allowed: "an origin as browsers send it, such as http://localhost:3000, file:// or null",
        about: SettingText(
            "The origin of another page that may call /tables.", valueName: "origin",
            standard: "none", example: "http://localhost:3000", isList: true), reload: .replaced
    ) { isOrigin($0) ? $0 : nil }

    static let defaultGeneration = Setting<Generation>(
        name: "default-generation", allowed: "1, 2 or 3",
        about: SettingText(
            "The generation of clients that show no mark of theirs: 1, 2 or 3.",
            valueName: "generation", standard: "2", example: "2")
    ) { Int($0).flatMap(Generation.init(rawValue:)) }

    static let applicationKeyFile = path(
        "application-key-file",
        allowed: "the path of a file with the application key in its first line",
        about: SettingText(
            "A file with the application key of a generation 1 backend.", valueName: "file",
            standard: "the key that its clients send", example: "/etc/understudy/application.key"))

    static let parallelism = wholeNumber(
        "parallelism", in: 1...SyncLimits.parallelPushes,
        about: SettingText(
            "How many changes of different items are sent at once, 1 to "
                + "\(SyncLimits.parallelPushes).", valueName: "number",
            standard: "1", example: "4"),
        reload: .engines { $0.parallelism = $1.parallelism })

    static let strictSDK = yesOrNo(
        "strict-sdk",
        about: SettingText(
            "Whether the writes that the SDKs' own queues refuse are refused.",
            standard: "no", example: "yes"))

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

enum SyncChoice: String, Sendable, Hashable, CaseIterable {
    /// After writes, every minute, when the backend can be reached again, and for reads.
    case auto
    /// Only on request.
    case manual

    var triggers: Set<Trigger> {
        switch self {
        case .auto: Set(Trigger.allCases)
        case .manual: [.manual]
        }
    }
}

// Access, and how the backend is reached.
extension Settings {
    static let socket = path(
        "socket",
        about: SettingText(
            "A Unix socket to listen on as well, for this user alone.", valueName: "path",
            standard: "none", example: "/run/user/1000/understudy.sock"))

    static let dashboardListen = Setting<ListenAddress>(
        name: "dashboard-listen", allowed: "a loopback address with a port, such as 127.0.0.1:8090",
        about: SettingText(
            "Where the dashboard is, apart from clients, so that pages of the backend at the clients' "
                + "port, such as those of a browser login, keep their scripts and storage.",
            valueName: "address", standard: "where clients find Understudy",
            example: "127.0.0.1:8090")
    ) { text in loopback(text).flatMap { $0.port == 0 ? nil : $0 } }

    static let tablesAccess = Setting<TablesAccess>(
        name: "tables-access",
        allowed: TablesAccess.allCases.map(\.rawValue).joined(separator: " or "),
        about: SettingText(
            "Whether every program of this machine may reach /tables (open), or only clients that "
                + "have an address of their own (capability; see `understudy access`).",
            valueName: "access", standard: "open", example: "open"), reload: .replaced
    ) { TablesAccess(rawValue: $0) }

    static let forwardHeader = Setting<ForwardableName>(
        name: "forward-header", allowed: ForwardableName.allowed,
        about: SettingText(
            "A header field of clients that is kept with a write and sent on with it.",
            valueName: "name", standard: "none", example: "X-Tenant", isList: true),
        reload: .replaced
    ) { ForwardableName($0) }

    static let adoptUnsigned = Setting<Bool>(
        name: "adopt-unsigned", allowed: "never or next-sign-in",
        about: SettingText(
            "Who gets what was written without a sign-in, where the backend refuses that: next-sign-in "
                + "gives it to the only user since. For a proxy that one person uses.",
            valueName: "choice", standard: "never", example: "never")
    ) { ["never": false, "next-sign-in": true][$0] }

    static let offlineGrace = time(
        "offline-grace", hours: 0...Limits.offlineGraceDaysMax * 24,
        about: SettingText(
            "How long a user's token is taken that the backend has taken before and cannot confirm now, "
                + "such as 12h or 30d.", valueName: "time",
            standard: "30d", example: "30d"))

    static let diskBudget = bytes(
        "disk-budget", from: Limits.diskBudgetBytesMin,
        about: SettingText(
            "How large the store of each identity may grow, such as 500M or 4G. Then rows that the "
                + "backend has as well are forgotten, and after that writes are refused with 507.",
            valueName: "size", standard: "as large as the disk", example: "4G"))
}

// What is kept, how long, and where backups go.
extension Settings {
    static let keepHistory = time(
        "keep-history", hours: keptHours,
        about: SettingText(
            "How long operations that are closed and the history are kept, such as 30d.",
            valueName: "time", standard: "30d", example: "30d"),
        reload: retention)
    static let keepAttempts = time(
        "keep-attempts", hours: keptHours,
        about: SettingText(
            "How long the requests that were made for a closed operation are kept.",
            valueName: "time", standard: "7d", example: "7d"),
        reload: retention)
    static let keepTombstones = time(
        "keep-tombstones", hours: keptHours,
        about: SettingText(
            "How long a deleted row is kept for clients that sync; one that is away for longer "
                + "misses the deletion.", valueName: "time",
            standard: "90d", example: "90d"),
        reload: retention)

    static let historyBudget = bytes(
        "history-budget", from: Limits.keptBytesMin,
        about: SettingText(
            "How many bytes the history of each identity may have; the oldest entries go first.",
            valueName: "size", standard: "as many as it needs", example: "200M"),
        reload: retention)
    static let attemptsBudget = bytes(
        "attempts-budget", from: Limits.keptBytesMin,
        about: SettingText(
            "How many bytes the requests for closed operations may have, for each identity.",
            valueName: "size", standard: "as many as they need", example: "50M"),
        reload: retention)

    static let backupEvery = time(
        "backup-every", hours: Proxy.Limits.backupHours,
        about: SettingText(
            "How often a backup is made by itself, such as 12h or 1d.", valueName: "time",
            standard: "never", example: "1d"))

    static let backupKeep = wholeNumber(
        "backup-keep", in: 1...Proxy.Limits.backupsKeptMax,
        about: SettingText(
            "How many backups are kept in the backup folder.", valueName: "number",
            standard: "\(Proxy.Limits.backupsKept)", example: "7"))

    static let backupFolder = Setting<String>(
        name: "backup-folder",
        allowed: "the absolute path of a folder, such as /var/backups/understudy",
        about: SettingText(
            "Where these backups go, an absolute path; best on another disk.", valueName: "path",
            standard: "backups in the data folder", example: "/var/backups/understudy")
    ) {
        // A relative path would mean another folder in each working directory.
        $0.hasPrefix("/") ? $0 : nil
    }

    private static let keptHours: ClosedRange<Int64> = 1...Limits.keptDaysMax * 24
    private static let retention = Reloading.engines { $0.retention = $1.retention }
}

extension ServeConfiguration {
    /// Reads how long what is settled is kept.
    static func retention(_ sources: Sources) throws(ConfigurationProblem) -> Retention {
        var retention = Retention()
        retention.historySeconds = try sources.valueOrDefault(Settings.keepHistory)
        retention.attemptSeconds = try sources.valueOrDefault(Settings.keepAttempts)
        retention.tombstoneSeconds = try sources.valueOrDefault(Settings.keepTombstones)
        retention.historyBytes = try sources.value(Settings.historyBudget).map(Int64.init)
        retention.attemptBytes = try sources.value(Settings.attemptsBudget).map(Int64.init)
        return retention
    }

    static func backups(_ sources: Sources) throws(ConfigurationProblem) -> BackupPlan {
        var plan = BackupPlan()
        plan.folder = try sources.value(Settings.backupFolder)
        plan.everySeconds = try sources.value(Settings.backupEvery)
        plan.keep = try sources.valueOrDefault(Settings.backupKeep)
        return plan
    }
}

extension ServeSetting {
    /// The setting of `serve` with this name.
    static func named(_ name: some StringProtocol) -> ServeSetting? {
        all.first { $0.name == name }
    }

    /// All settings of `serve`, in the order of the commented file.
    static let all: [ServeSetting] = [
        ServeSetting(Settings.backend),
        ServeSetting(Settings.backendGeneration),
        ServeSetting(Settings.applicationKeyFile),
        ServeSetting(Settings.backendCA),
        ServeSetting(Settings.backendCertificate),
        ServeSetting(Settings.backendKey),
        ServeSetting(Settings.backendProxy),
        ServeSetting(Settings.backendHeader),
        ServeSetting(Settings.allowPlainHTTP),
        ServeSetting(Settings.listen),
        ServeSetting(Settings.dashboardListen),
        ServeSetting(Settings.socket),
        ServeSetting(Settings.tablesAccess),
        ServeSetting(Settings.data),
        ServeSetting(Settings.adoptUnsigned),
        ServeSetting(Settings.offlineGrace),
        ServeSetting(Settings.diskBudget),
        ServeSetting(Settings.keepHistory),
        ServeSetting(Settings.keepAttempts),
        ServeSetting(Settings.keepTombstones),
        ServeSetting(Settings.historyBudget),
        ServeSetting(Settings.attemptsBudget),
        ServeSetting(Settings.backupEvery),
        ServeSetting(Settings.backupKeep),
        ServeSetting(Settings.backupFolder),
        ServeSetting(Settings.notify),
        ServeSetting(Settings.sync),
        ServeSetting(Settings.checkCopies),
        ServeSetting(Settings.table),
        ServeSetting(Settings.trustTable),
        ServeSetting(Settings.policy),
        ServeSetting(Settings.apiSync),
        ServeSetting(Settings.allowHost),
        ServeSetting(Settings.allowOrigin),
        ServeSetting(Settings.forwardHeader),
        ServeSetting(Settings.defaultGeneration),
        ServeSetting(Settings.parallelism),
        ServeSetting(Settings.pageSize),
        ServeSetting(Settings.strictSDK),
        ServeSetting(Settings.logLevel),
        ServeSetting(Settings.logFormat),
    ]

    static let ofBackend: [ServeSetting] = [
        ServeSetting(Settings.anyListen),
        ServeSetting(Settings.publicAddress),
        ServeSetting(Settings.backendTable),
        ServeSetting(Settings.backendData),
        ServeSetting(Settings.flavour),
        ServeSetting(Settings.integerIDs),
        ServeSetting(Settings.hardDelete),
        ServeSetting(Settings.signIn),
        ServeSetting(Settings.pageRows),
        ServeSetting(Settings.requestsPerSecond),
        ServeSetting(Settings.logLevel),
        ServeSetting(Settings.logFormat),
    ]
}

extension UnknownVariable {
    /// Those among the names of an environment.
    static func all(_ names: [String]) -> [UnknownVariable] {
        all(
            names, settings: ServeSetting.all + ServeSetting.ofBackend,
            others: SiteWords.variables + [Settings.backendListen.variable],
            of: ServeFile.kind.program)
    }

    /// Says those of this process on standard error, once.
    static let said: Void = {
        for variable in all(ThisProcess.environmentNames) { ThisProcess.say("\(variable)") }
    }()
}

/// A table as `--table` names it: `todoitem`, or with the part of it that is copied
/// `todoitem?$filter=complete eq false`.
struct TableSetting: Sendable, Hashable {
    let name: TableName
    /// The part; nil for the whole table.
    let part: TablePart?

    /// Reads a value of the setting; nil if it is not allowed.
    init?(_ text: String) {
        guard let setting = try? Self.read(text) else { return nil }
        self = setting
    }

    private init(name: TableName, part: TablePart?) { (self.name, self.part) = (name, part) }

    /// - Returns: nil if there is no table's name.
    /// - Throws: why the part is none.
    private static func read(_ text: String) throws(ODataError) -> TableSetting? {
        let parts = text.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        guard let name = TableName(parts[0]) else { return nil }
        let part: TablePart? = parts.count == 2 ? try TablePart(parsing: String(parts[1])) : nil
        return TableSetting(name: name, part: part)
    }

    /// What a value must be whose part is none, as part of a sentence; nil for any other value.
    static func refusal(_ text: String) -> String? {
        do throws(ODataError) {
            _ = try read(text)
            return nil
        } catch {
            return "a table with a filter that names a part of its rows. \(error)"
        }
    }
}
