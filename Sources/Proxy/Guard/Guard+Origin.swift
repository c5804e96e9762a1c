import HTTPMessage
import HTTPTypes

extension Guard {
    /// Refuses a request of a page of another origin. Programs send neither Origin nor Sec-Fetch-Site.
    /// Browsers send at least one of them, except for an address that a person typed.
    func originRefusal(_ request: Request, _ space: Space, _ path: TargetPath) -> Refusal? {
        let origin = request.head.headerFields[.origin]
        let site = request.head.headerFields[.secFetchSite]
        if let origin, isListed(origin, for: space, request) { return nil }
        if isEndOfLogin(request, path) { return nil }
        if let origin, origin != "http://\(request.head.authority ?? "")" {
            return crossOrigin(origin)
        }
        switch site {
        case nil, "same-origin", "none": return nil
        default:
            if site == "cross-site" || site == "same-site", isOpenNavigation(request, path) {
                return nil
            }
            return crossOrigin(origin ?? request.head.headerFields[.referer])
        }
    }

    /// The answer to a browser's preflight for a page of a listed origin; nil for any other request.
    /// Preflights of other origins were refused before.
    func preflightAnswer(_ request: Request, _ space: Space) -> Response? {
        let fields = request.head.headerFields
        guard request.head.method == .options, fields[.accessControlRequestMethod] != nil,
            let origin = fields[.origin], isListed(origin, for: space, request)
        else { return nil }
        var answer = HTTPFields()
        answer[.accessControlAllowOrigin] = origin
        answer[.vary] = "Origin"
        answer[.accessControlAllowMethods] = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"
        answer[.accessControlAllowHeaders] = fields[.accessControlRequestHeaders]
        answer[.accessControlMaxAge] = String(Limits.preflightSeconds)
        return Response(status: .noContent, headerFields: answer)
    }

    /// The header fields that let a page of a listed origin read the answer.
    func sharingFields(_ request: Request, _ space: Space) -> HTTPFields {
        guard let origin = request.head.headerFields[.origin], isListed(origin, for: space, request)
        else {
            return [:]
        }
        var fields = HTTPFields()
        fields[.accessControlAllowOrigin] = origin
        fields[.vary] = "Origin"
        fields[.accessControlExposeHeaders] =
            "Link, Location, ETag, Age, Retry-After, Understudy-State, Understudy-Backend, "
            + "Understudy-Complete, Understudy-Token, Zumo-Server-Version"
        return fields
    }

    /// Whether pages of an origin may call a space. No other origin may call the operator API.
    private func isListed(_ origin: String, for space: Space, _ request: Request) -> Bool {
        switch space {
        case .tables, .other: rules(request).allowedOrigins.contains(origin)
        case .operatorAPI: false
        }
    }

    /// Whether a request is a navigation by a link or redirect to a page. It changes nothing, and the page
    /// has to sign in before it shows anything.
    private func isOpenNavigation(_ request: Request, _ path: TargetPath) -> Bool {
        let fields = request.head.headerFields
        guard request.head.method == .get, fields[.origin] == nil,
            fields[.secFetchMode] == "navigate", fields[.secFetchDest] ?? "document" == "document"
        else { return false }
        switch path.segments.first {
        case nil, "-", ".auth", "login": return true
        default: return false
        }
    }

    /// Whether a request is the form that ends a login at a provider (`response_mode=form_post`). It is
    /// safe to pass on: the backend checks the form, its answer gets an origin of its own, and a link could
    /// send the same values to the same address.
    private func isEndOfLogin(_ request: Request, _ path: TargetPath) -> Bool {
        let fields = request.head.headerFields
        guard request.head.method == .post, path.segments.count == 4, !path.segments[2].isEmpty,
            path.segments[..<2] == [".auth", "login"], path.segments[3] == "callback"
        else { return false }
        return fields[.secFetchSite] == "cross-site" && fields[.secFetchMode] == "navigate"
            && fields[.secFetchDest] ?? "document" == "document"
            && MediaType(fields[.contentType] ?? "").isForm
    }

    private func crossOrigin(_ origin: String?) -> Refusal {
        Refusal(
            .origin,
            "A page of another origin asked for this. If it should be allowed, start with "
                + "--allow-origin and its origin.", detail: origin)
    }
}
