import ArgumentParser

/// The options on access and on how much disk space the stores may take.
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

    @Flag(help: "Keep users' tokens, sealed, so that their queues go on after a restart.")
    var rememberSignIn = false

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
            Settings.rememberSignIn.name: rememberSignIn ? ["yes"] : [],
            Settings.offlineGrace.name: offlineGrace.map { [$0] } ?? [],
            Settings.diskBudget.name: diskBudget.map { [$0] } ?? [],
        ]
    }
}
