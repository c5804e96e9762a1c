import Proxy
import SyncCore
import TablesProtocol

/// Looks at everything that can keep an Understudy from doing its work, from outside: it needs none
/// that runs, and disturbs none that does.
struct Doctor: Sendable {
    let sources: Sources
    let folder: DataFolder
    /// Whether an Understudy runs on the folder.
    let isRunning: Bool
    /// Tables that its clients have read and that are in no store yet.
    let wanted: [TableName]

    /// Looks at all of it, in the order in which one thing needs the other.
    func findings() async -> [Finding] {
        var findings = configurationFindings()
        findings += folderFindings()
        let stores = inspectStores()
        findings += storeFindings(stores)
        findings += await listeningFindings()
        findings += await backendFindings(stores)
        return findings
    }

    /// The value of a setting, or nil where it is wrong, which is a finding of its own.
    func value<Value>(_ setting: Setting<Value>) -> Value? { try? sources.value(setting) }

    /// The values of a list, as far as they are right.
    func list<Value>(_ setting: Setting<Value>) -> [Value] { (try? sources.list(setting)) ?? [] }
}
