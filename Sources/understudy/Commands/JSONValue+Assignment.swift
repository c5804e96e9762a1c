import Proxy
import TablesProtocol

extension JSONValue.Member {
    /// Reads `name=value` as a person writes it: the value is JSON, or text where it is no JSON.
    init(assignment text: String) throws(StartProblem) {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty else {
            throw StartProblem("\"\(text)\" is no name with a value, such as complete=true.")
        }
        let value = try? JSONValue(parsing: String(parts[1]))
        self.init(String(parts[0]), value ?? .string(String(parts[1])))
    }
}
