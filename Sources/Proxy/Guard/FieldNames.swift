import HTTPMessage
import HTTPTypes
import TablesProtocol

extension HTTPField.Name {
    /// The fields by which a request overrides its method at some servers.
    static let methodOverrides = [
        methodOverride, known("X-HTTP-Method"), known("X-Method-Override"),
    ]
    static let serviceWorker = known("Service-Worker")
    static let secFetchSite = known("Sec-Fetch-Site")
    static let secFetchMode = known("Sec-Fetch-Mode")
    static let secFetchDest = known("Sec-Fetch-Dest")
    static let serviceWorkerAllowed = known("Service-Worker-Allowed")
    static let clearSiteData = known("Clear-Site-Data")
    static let lastEventID = known("Last-Event-ID")
    static let resourcePolicy = known("Cross-Origin-Resource-Policy")
    static let openerPolicy = known("Cross-Origin-Opener-Policy")
    static let referrerPolicy = known("Referrer-Policy")
}
