import ArgumentParser
import Proxy

/// The options that `serve` and `demo` share. Each can be set as an environment variable too:
/// `--allow-host` is `UNDERSTUDY_ALLOW_HOST`; the flag wins.
struct ServeOptions: ParsableArguments {
    @Option(help: "Where to listen; a loopback address. (default: 127.0.0.1:8080)")
    var listen: String?

    @Option(help: "The data folder. (default: in ~/.local/share)")
    var data: String?

    @Option(help: "auto, or manual: only when a sync is asked for. (default: auto)")
    var sync: String?

    @Option(help: ArgumentHelp("The only tables there are; repeat it.", valueName: "name"))
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

    @Option(
        help: """
            The least that the log says: trace to critical; debug: each request. (default: notice)
            """)
    var logLevel: String?

    @Option(help: "How the log is written: auto, text or json. (default: auto)")
    var logFormat: String?

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
        name: .customLong("strict-sdk"),
        help: "Refuse the writes that the SDKs' own queues refuse.")
    var strictSDK = false

    @OptionGroup var access: AccessOptions

    @Flag(help: "Take this backend for a data folder that belongs to another one.")
    var rebind = false

    /// The flags by the names of their settings.
    var flags: [String: [String]] {
        [
            Settings.listen.name: listen.map { [$0] } ?? [],
            Settings.data.name: data.map { [$0] } ?? [],
            Settings.sync.name: sync.map { [$0] } ?? [], Settings.table.name: table,
            Settings.policy.name: policy,
            Settings.allowHost.name: allowHost, Settings.allowOrigin.name: allowOrigin,
            Settings.forwardHeader.name: forwardHeader,
            Settings.defaultGeneration.name: defaultGeneration.map { [$0] } ?? [],
            Settings.logLevel.name: logLevel.map { [$0] } ?? [],
            Settings.logFormat.name: logFormat.map { [$0] } ?? [],
            Settings.parallelism.name: parallelism.map { [$0] } ?? [],
            Settings.pageSize.name: pageSize.map { [$0] } ?? [],
            Settings.strictSDK.name: strictSDK ? ["true"] : [],
        ].merging(access.flags) { $1 }
    }
}
