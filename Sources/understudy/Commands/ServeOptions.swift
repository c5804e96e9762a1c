import ArgumentParser
import Program

/// The options that `serve` and `demo` share. Each can be set as an environment variable too:
/// `--allow-host` is `UNDERSTUDY_ALLOW_HOST`; the flag wins.
///
/// They are one group, since ArgumentParser validates a group within a group again for each level.
struct ServeOptions: SettingOptions {
    @Option(Settings.listen) var listen: String?
    @Option(Settings.data, completion: .directory) var data: String?
    @Option(Settings.sync, completion: .words(of: SyncChoice.self)) var sync: String?
    @Option(Settings.table) var table: [String] = []
    @Option(Settings.policy) var policy: [String] = []
    @Option(Settings.allowHost) var allowHost: [String] = []
    @Option(Settings.allowOrigin) var allowOrigin: [String] = []
    @Option(Settings.forwardHeader) var forwardHeader: [String] = []
    @Option(Settings.defaultGeneration) var defaultGeneration: String?
    @Option(Settings.logLevel) var logLevel: String?
    @Option(Settings.logFormat, completion: .words(of: LogFormat.self)) var logFormat: String?
    @Option(Settings.parallelism) var parallelism: String?
    @Option(Settings.pageSize) var pageSize: String?
    @Flag(Settings.strictSDK) var strictSdk: Bool?
    @Option(Settings.dashboardListen) var dashboardListen: String?
    @Option(Settings.socket) var socket: String?
    @Option(Settings.tablesAccess) var tablesAccess: String?
    @Flag(Settings.rememberSignIn) var rememberSignIn: Bool?
    @Option(Settings.offlineGrace) var offlineGrace: String?
    @Option(Settings.diskBudget) var diskBudget: String?
    @Option(Settings.keepHistory) var keepHistory: String?
    @Option(Settings.keepAttempts) var keepAttempts: String?
    @Option(Settings.keepTombstones) var keepTombstones: String?
    @Option(Settings.historyBudget) var historyBudget: String?
    @Option(Settings.attemptsBudget) var attemptsBudget: String?
    @Option(Settings.backupEvery) var backupEvery: String?
    @Option(Settings.backupKeep) var backupKeep: String?
    @Option(Settings.backupFolder, completion: .directory) var backupFolder: String?
    @Option(Settings.notify) var notify: String?
    @Option(Settings.notifyCommand, completion: .file()) var notifyCommand: String?
    @Option(Settings.notifyEvents) var notifyEvents: String?
    @Flag(Settings.notifyValues) var notifyValues: Bool?

    @Flag(help: "Take this backend for a data folder that belongs to another one.")
    var rebind = false
}
