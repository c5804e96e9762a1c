import ArgumentParser
import Program
import Proxy

/// The options that `serve` and `demo` share. Each can be set as an environment variable too:
/// `--allow-host` is `UNDERSTUDY_ALLOW_HOST`; the flag wins.
struct ServeOptions: ParsableArguments {
    @Option(help: "Where to listen; a loopback address. (default: 127.0.0.1:8080)")
    var listen: String?

    @Option(help: "The data folder. (default: in ~/.local/share)", completion: .directory)
    var data: String?

    @Option(
        help: "auto, or manual: only when a sync is asked for. (default: auto)",
        completion: .words(of: SyncChoice.self))
    var sync: String?

    @Option(
        help: ArgumentHelp(
            """
            The only tables there are; repeat it. With a filter, only these rows are copied: \
            'todoitem?$filter=complete eq false'.
            """, valueName: "name"))
    var table: [String] = []

    @Option(
        help: ArgumentHelp(
            """
            How a table is read and written, and who decides its conflicts: words joined by +, such \
            as todoitem=revalidate+write-through; repeat it.
            """, valueName: "table=words"))
    var policy: [String] = []

    @Option(
        help: ArgumentHelp(
            "Another name with port that clients use, such as 10.0.2.2:8080.",
            valueName: "name:port"))
    var allowHost: [String] = []

    @Option(
        help: ArgumentHelp("Another page's origin that may call /tables.", valueName: "origin"))
    var allowOrigin: [String] = []

    @Option(
        help: ArgumentHelp(
            "A header field of clients that is kept with a write and sent on with it; repeat it.",
            valueName: "name"))
    var forwardHeader: [String] = []

    @Option(
        help: ArgumentHelp(
            "Generation of clients without a mark: 1, 2 or 3. (default: 2)",
            valueName: "generation"))
    var defaultGeneration: String?

    @OptionGroup var log: LogOptions

    @Option(
        help: ArgumentHelp(
            "Changes of different items that are sent at once, 1 to 16. (default: 1)",
            valueName: "number"))
    var parallelism: String?

    @Option(
        help: ArgumentHelp(
            "Rows that a pull asks for in one page, 1 to 1000. (default: 1000)",
            valueName: "rows"))
    var pageSize: String?

    @Flag(
        name: .customLong("strict-sdk"), inversion: .prefixedNo,
        help: "Whether the writes that the SDKs' own queues refuse are refused. (default: no)")
    var strictSDK: Bool?

    @OptionGroup var access: AccessOptions

    @OptionGroup var keeping: KeepingOptions

    @Flag(help: "Take this backend for a data folder that belongs to another one.")
    var rebind = false

    /// The flags by the names of their settings.
    var flags: [String: [String]] {
        let own: [String: [String]] = [
            Settings.listen.name: listen.map { [$0] } ?? [],
            Settings.data.name: data.map { [$0] } ?? [],
            Settings.sync.name: sync.map { [$0] } ?? [], Settings.table.name: table,
            Settings.policy.name: policy,
            Settings.allowHost.name: allowHost, Settings.allowOrigin.name: allowOrigin,
            Settings.forwardHeader.name: forwardHeader,
            Settings.defaultGeneration.name: defaultGeneration.map { [$0] } ?? [],
            Settings.parallelism.name: parallelism.map { [$0] } ?? [],
            Settings.pageSize.name: pageSize.map { [$0] } ?? [],
            Settings.strictSDK.name: strictSDK.texts,
        ]
        return own.merging(log.flags) { $1 }.merging(access.flags) { $1 }
            .merging(keeping.flags) { $1 }
    }
}

/// The options on access, and on the disk space of the stores.
struct AccessOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            Another address for the dashboard, so that pages of the backend, such as those of a \
            browser login, keep their scripts and storage. (default: as --listen)
            """, valueName: "address"))
    var dashboardListen: String?

    @Option(
        help: ArgumentHelp(
            "A Unix socket to listen on as well, for this user alone.", valueName: "path"))
    var socket: String?

    @Option(
        help: ArgumentHelp(
            """
            open, or capability: clients need an address of their own, see `understudy access`. \
            (default: open)
            """, valueName: "access"))
    var tablesAccess: String?

    @Flag(
        inversion: .prefixedNo,
        help: """
            Whether users' tokens are kept, sealed, so that their queues go on after a restart. \
            (default: no)
            """)
    var rememberSignIn: Bool?

    @Option(
        help: ArgumentHelp(
            """
            How long a token is taken that the backend has taken before and cannot confirm now, such \
            as 12h or 30d. (default: 30d)
            """, valueName: "time"))
    var offlineGrace: String?

    @Option(
        help: ArgumentHelp(
            """
            How large the store of each identity may grow, such as 500M or 4G; then rows that the \
            backend has as well are forgotten, and after that writes are refused with 507. \
            (default: as large as the disk)
            """, valueName: "size"))
    var diskBudget: String?

    /// The flags by the names of their settings.
    var flags: [String: [String]] {
        [
            Settings.dashboardListen.name: dashboardListen.map { [$0] } ?? [],
            Settings.socket.name: socket.map { [$0] } ?? [],
            Settings.tablesAccess.name: tablesAccess.map { [$0] } ?? [],
            Settings.rememberSignIn.name: rememberSignIn.texts,
            Settings.offlineGrace.name: offlineGrace.map { [$0] } ?? [],
            Settings.diskBudget.name: diskBudget.map { [$0] } ?? [],
        ]
    }
}
