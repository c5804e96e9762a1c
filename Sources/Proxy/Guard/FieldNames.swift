import HTTPMessage
import HTTPTypes

extension HTTPField.Name {
    /// Makes a name from a literal that is a token.
    static func known(_ name: String) -> HTTPField.Name {
        guard let name = HTTPField.Name(name) else {
            preconditionFailure("\(name) is a literal token")
        }
        return name
    }

    /// The fields by which a request overrides its method at some servers.
    static let methodOverrides = [
        known("X-HTTP-Method-Override"), known("X-HTTP-Method"), known("X-Method-Override"),
    ]
    static let serviceWorker = known("Service-Worker")
    static let secFetchSite = known("Sec-Fetch-Site")
    static let secFetchMode = known("Sec-Fetch-Mode")
    static let secFetchDest = known("Sec-Fetch-Dest")
    static let understudySession = known("Understudy-Session")
    static let understudyState = known("Understudy-State")
    static let understudyBackend = known("Understudy-Backend")
    static let understudyComplete = known("Understudy-Complete")
    static let understudyToken = known("Understudy-Token")
    static let lastEventID = known("Last-Event-ID")
    static let resourcePolicy = known("Cross-Origin-Resource-Policy")
    static let openerPolicy = known("Cross-Origin-Opener-Policy")
    static let referrerPolicy = known("Referrer-Policy")
}

extension Request {
    var announcesBody: Bool {
        head.headerFields[.transferEncoding] != nil
            || (head.headerFields[.contentLength] ?? "0") != "0"
    }
}
