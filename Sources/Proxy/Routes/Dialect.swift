import HTTPMessage
import HTTPTypes
import SyncCore
import TablesProtocol

/// The header fields and query pairs by which generations differ, for requests that are passed through.
enum Dialect {
    /// Changes the head of a client's request so that a server of another generation accepts it.
    ///
    /// 1. The API version: the first generation refuses any, the second requires its own, the third accepts
    ///    any.
    /// 2. The application key, which the first generation requires.
    /// 3. The token, in the field that the server's generation reads, in addition to the client's field.
    static func translate(
        _ head: inout HTTPRequest, from client: Generation, to backend: Generation, key: String?
    ) {
        guard client != backend else { return }
        switch backend {
        case .mobileServices:
            head.headerFields[.zumoAPIVersion] = nil
            head.path = head.path.map(withoutVersion)
            if head.headerFields[.zumoApplication] == nil {
                head.headerFields[.zumoApplication] = key
            }
        case .mobileApps:
            head.headerFields[.zumoAPIVersion] = "2.0.0"
            head.path = head.path.map(withoutVersion)
        case .datasync: break
        }
        for field in Token(head.headerFields, generation: client)?.field.token(for: backend) ?? []
        where head.headerFields[field.name] == nil {
            head.headerFields[field.name] = field.value
        }
    }

    /// Adds the fields that identify a generation to a request of this program.
    static func mark(_ fields: inout HTTPFields, as generation: Generation, key: String?) {
        switch generation {
        case .mobileServices: fields[.zumoApplication] = key
        case .mobileApps: fields[.zumoAPIVersion] = "2.0.0"
        case .datasync: fields[.zumoAPIVersion] = "3.0.0"
        }
    }

    private static func withoutVersion(_ target: String) -> String {
        guard let mark = target.firstIndex(of: "?") else { return target }
        let pairs = target[target.index(after: mark)...].split(
            separator: "&", omittingEmptySubsequences: false)
        let kept = pairs.filter { !$0.lowercased().hasPrefix("zumo-api-version=") }
        guard kept.count < pairs.count else { return target }
        return target[..<mark] + (kept.isEmpty ? "" : "?\(kept.joined(separator: "&"))")
    }
}
