import ArgumentParser
import Proxy

/// The options of commands that list.
struct PageOptions: ParsableArguments {
    @Option(help: "How many to show, at most \(Proxy.Limits.pageElementsMax).")
    var limit = 50

    @Option(help: "Where the list before ended.")
    var after: String?

    /// As the operator API takes them.
    var query: [(String, String?)] { [("limit", String(limit)), ("after", after)] }
}
