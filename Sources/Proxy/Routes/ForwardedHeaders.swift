import HTTPMessage
import HTTPTypes
import SyncCore

/// The names of the clients' header fields that are forwarded to the backend: with an operation, and with a
/// read that the backend answers. A reload of the settings replaces them.
final class ForwardedHeaders: Sendable {
    private let names: WorkerCopies<[ForwardableName]>

    /// Forwards fields with these names.
    init(_ names: [ForwardableName] = []) { self.names = WorkerCopies(names) }

    /// Forwards fields with these names from the next request on.
    func replace(with names: [ForwardableName]) { self.names.replace(with: names) }

    /// The fields of a request that are forwarded, in the order of the names, with all values of each.
    /// - Parameter worker: the calling server worker.
    func pick(from fields: HTTPFields, worker: Int) -> HTTPFields {
        Self.pick(names.value(of: worker), from: fields)
    }

    /// The first forwarded field with more than ``Limits/forwardedHeaderBytes``; nil if there is none.
    func tooLong(in fields: HTTPFields, worker: Int) -> HTTPField? {
        pick(from: fields, worker: worker).first {
            $0.value.utf8.count > Limits.forwardedHeaderBytes
        }
    }

    static func pick(_ names: [ForwardableName], from fields: HTTPFields) -> HTTPFields {
        var picked = HTTPFields()
        for name in names where fields.contains(name.name) {
            picked[fields: name.name] = fields[fields: name.name]
        }
        return picked
    }
}

/// The header fields of the backend's answers for browsers. The backend's pages have this program's
/// address, so without changes they would run in the dashboard's origin.
enum PassedAnswer {
    /// The fields of the backend's answer as the client gets them.
    ///
    /// 1. `Service-Worker-Allowed` and `Clear-Site-Data` are removed, since they affect the whole origin.
    /// 2. A sandbox policy is added, which gives a page a unique origin. A policy of the backend stays; a
    ///    browser applies both.
    /// 3. Browsers may not keep a page: a kept page would lack a sandbox that was switched on later.
    /// - Parameter isSandboxed: false if the dashboard has another origin, so that the backend's pages may
    ///   have this one.
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

    /// The policy for pages of the backend: forms, windows and scripts, but no storage, no cookies and no
    /// requests with the dashboard's origin.
    static let sandbox = "sandbox allow-forms allow-popups allow-scripts"
}

extension HTTPField.Name {
    static let serviceWorkerAllowed = known("Service-Worker-Allowed")
    static let clearSiteData = known("Clear-Site-Data")
}
