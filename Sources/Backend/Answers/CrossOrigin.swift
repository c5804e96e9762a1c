import HTTPMessage
import HTTPTypes
import TablesProtocol

/// The answers to a browser before and after a request from another origin, as both Node servers give
/// them: pages on `localhost` may use the tables.
enum CrossOrigin {
    /// Adds the fields that let the page of an allowed origin read the answer. The first generation's
    /// server lets it read no field.
    static func add(to response: inout Response, _ call: Call, _ profile: Profile) {
        guard let origin = call.field(.origin), isLocal(origin) else { return }
        response.head.headerFields[.accessControlAllowOrigin] = origin
        if profile.generation != .mobileServices {
            response.head.headerFields[.accessControlExposeHeaders] = "Link,Etag"
        }
        if let names = call.field(.accessControlRequestHeaders), areNames(names) {
            response.head.headerFields[.accessControlAllowHeaders] = names
        }
        guard call.method == .options else { return }
        response.head.headerFields[.accessControlAllowMethods] =
            "GET, PUT, PATCH, POST, DELETE, OPTIONS"
        response.head.headerFields[.accessControlMaxAge] = "300"
    }

    /// A scheme of pages, the host `localhost`, any port, and no path but `/`.
    private static func isLocal(_ origin: String) -> Bool {
        let pattern = /(?i:https?|ms-appx-web):\/\/(?i:localhost)(?::\d*)?\/?/
        return origin.wholeMatch(of: pattern) != nil
    }

    private static func areNames(_ text: String) -> Bool {
        text.utf8.count <= Limits.requestedNamesBytes
            && text.wholeMatch(of: /[A-Za-z0-9\-,\s]+/) != nil
    }
}
