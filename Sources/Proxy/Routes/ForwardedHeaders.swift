import HTTPMessage
import HTTPTypes
import SyncCore
import Synchronization

/// The header fields of clients that are sent on to the backend, with a write for as long as it waits
/// and with a read that the backend answers. A reload of the settings replaces the list.
final class ForwardedHeaders: Sendable {
    private let names: Mutex<[ForwardableName]>

    /// Sends on fields with these names.
    init(_ names: [ForwardableName] = []) { self.names = Mutex(names) }

    /// Sends on fields with these names from the next request on.
    func replace(with names: [ForwardableName]) { self.names.withLock { $0 = names } }

    /// The fields of a request that are sent on, in the order of the list, each value of each.
    func pick(from fields: HTTPFields) -> HTTPFields {
        Self.pick(names.withLock { $0 }, from: fields)
    }

    /// The first field that is to be sent on and has more than ``Limits/forwardedHeaderBytes``; nil for
    /// none.
    func tooLong(in fields: HTTPFields) -> HTTPField? {
        pick(from: fields).first { $0.value.utf8.count > Limits.forwardedHeaderBytes }
    }

    static func pick(_ names: [ForwardableName], from fields: HTTPFields) -> HTTPFields {
        var picked = HTTPFields()
        for name in names where fields.contains(name.name) {
            picked[fields: name.name] = fields[fields: name.name]
        }
        return picked
    }
}

/// What the head of an answer of the backend may say to a browser. The page that asked has this
/// program's address, so without more the backend's pages would run in the dashboard's origin.
enum PassedAnswer {
    /// The fields of the backend's answer as they go to the client.
    ///
    /// 1. What would reach beyond the answer is taken off: `Service-Worker-Allowed` and
    ///    `Clear-Site-Data`. They act on the whole origin.
    /// 2. A sandbox is added, which gives a page an origin of its own that equals no other. A policy of
    ///    the backend stays beside it; a browser obeys both.
    /// 3. No page is kept by the browser: it would come back without the sandbox that holds by then.
    /// - Parameter isSandboxed: false where the dashboard has another origin, and the backend's pages
    ///   may have this one.
    static func fields(_ fields: HTTPFields, isSandboxed: Bool) -> HTTPFields {
        var fields = fields
        fields[.serviceWorkerAllowed] = nil
        fields[.clearSiteData] = nil
        if fields[.contentType]?.lowercased().contains("html") == true {
            fields[.cacheControl] = "no-store"
        }
        if isSandboxed {
            fields.append(HTTPField(name: .contentSecurityPolicy, value: sandbox))
        }
        return fields
    }

    /// A page may have forms, windows and scripts, but no storage, no cookies and no requests in the
    /// dashboard's name.
    static let sandbox = "sandbox allow-forms allow-popups allow-scripts"
}

extension HTTPField.Name {
    static let serviceWorkerAllowed = known("Service-Worker-Allowed")
    static let clearSiteData = known("Clear-Site-Data")
}
