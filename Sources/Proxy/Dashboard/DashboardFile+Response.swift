import HTTPMessage
import HTTPTypes

extension DashboardFile {
    /// The file as a response. The policy lets a page load its own files and talk to its own
    /// server, and nothing else: no inline script, no other site, no frame around it. Scripts and
    /// styles are those under `/-/` alone: the backend's answers have the same origin.
    /// - Parameter authority: host and port that the browser asks, without brackets (a policy has no
    ///   form for an IPv6 address).
    func response(authority: String) -> Response {
        var fields = HTTPFields()
        fields[.contentType] = mediaType
        fields[.cacheControl] = "no-cache"
        fields[.contentSecurityPolicy] =
            "default-src 'none'; script-src \(authority)/-/; style-src \(authority)/-/; "
            + "worker-src 'none'; img-src 'self' data:; connect-src 'self'; font-src 'self'; manifest-src 'self'; base-uri 'none'; "
            + "form-action 'none'; frame-ancestors 'none'"
        fields[.xContentTypeOptions] = "nosniff"
        fields[.resourcePolicy] = "same-origin"
        fields[.openerPolicy] = "same-origin"
        fields[.referrerPolicy] = "no-referrer"
        return Response(status: .ok, headerFields: fields, body: bytes)
    }
}
