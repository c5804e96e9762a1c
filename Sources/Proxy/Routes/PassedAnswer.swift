import HTTPMessage
import HTTPTypes

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
