import HTTPMessage
import HTTPTypes

extension HTTPField.Name {
    /// Makes a name that is known to be a token.
    static func known(_ name: String) -> HTTPField.Name {
        guard let name = HTTPField.Name(name) else {
            preconditionFailure("\(name) is a literal token")
        }
        return name
    }

    /// The fields by which some servers let a request have another method than it says.
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
    /// Whether the head announces a body.
    var announcesBody: Bool {
        head.headerFields[.transferEncoding] != nil
            || (head.headerFields[.contentLength] ?? "0") != "0"
    }
}

/// Media types, as far as the guard needs them.
enum MediaType {
    /// Whether a Content-Type is `application/json` or `application/…+json`, parameters aside.
    static func isJSON(_ field: String) -> Bool {
        let type = type(field)
        return type == "application/json"
            || (type.hasPrefix("application/") && type.hasSuffix("+json")
                && type.utf8.count > "application/+json".utf8.count)
    }

    /// Whether a Content-Type is that of a form without files, parameters aside.
    static func isForm(_ field: String) -> Bool {
        type(field) == "application/x-www-form-urlencoded"
    }

    /// The type without its parameters, in lower case.
    private static func type(_ field: String) -> String {
        field.prefix { $0 != ";" }.trimming { $0 == " " || $0 == "\t" }.lowercased()
    }
}

extension Substring {
    /// The text without the characters at both ends that fulfil `condition`.
    package func trimming(_ condition: (Character) -> Bool) -> Substring {
        var rest = drop(while: condition)
        while let last = rest.last, condition(last) { rest.removeLast() }
        return rest
    }
}
