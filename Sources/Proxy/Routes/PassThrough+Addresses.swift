import HTTPMessage
import HTTPTypes
import SyncCore
import TablesProtocol

// Addresses that differ between client and backend: those for logins and push of other generations, and the
// backend's own address in its answers.
extension PassThrough {
    /// The target of a request at the backend.
    ///
    /// 1. Logins: in the form of the backend's generation, once that is known.
    /// 2. Push: an installation of one generation cannot be translated to registrations of another. It
    ///    stands for all registrations of a device, and this program does not know all of them.
    /// 3. Any other target is unchanged.
    func target(of request: Request) throws(TablesError) -> String {
        let target = request.head.path ?? "/"
        guard let generation = tenants.backendGeneration else { return target }
        if let address = LoginAddress(target: target) {
            let form = LoginAddress.Form(of: generation)
            return address.form == form
                ? target : try address.target(in: form, isBrowser: request.head.method == .get)
        }
        let parts = request.path.split(separator: "/").prefix(2).map { $0.lowercased() }
        switch (parts, generation) {
        case (["push", "registrations"], .mobileApps), (["push", "registrationids"], .mobileApps):
            throw .untranslatable(
                "The backend is of Mobile Apps, which knows installations and no registrations "
                    + "for push: the device cannot be registered.")
        case (["push", "installations"], .mobileServices):
            throw .untranslatable(
                "The backend is of Mobile Services, which knows registrations and no "
                    + "installations for push: the device cannot be registered.")
        case _: return target
        }
    }

    /// Sends a login request. While the backend's generation is not known, a request that is answered 404
    /// is sent again in the other form. The first one changed nothing.
    func loginResponse(
        to request: Request, _ target: String, _ forwarding: Forwarding
    ) async throws(TransportError) -> Response {
        let response = try await signInTransport.send(outgoing(request, target, forwarding))
        guard tenants.backendGeneration == nil, response.head.status == .notFound,
            let address = LoginAddress(target: target),
            let other = try? address.target(
                in: address.form.other, isBrowser: request.head.method == .get)
        else { return response }
        let second = try await signInTransport.send(outgoing(request, other, forwarding))
        return second.head.status == .notFound ? response : second
    }

    /// An address of the backend in `Location` as one of this proxy, so that the client stays at the proxy.
    /// The end of a login gets the form that the client waits for. A path alone stays one, unless a client
    /// would take it for the name of a server.
    /// - Returns: nil for any other address.
    func ownLocation(_ location: String, _ request: Request, _ base: String) -> String? {
        guard let host = request.head.authority, var path = ownPath(of: location) else {
            return nil
        }
        let form = LoginAddress(target: request.head.path ?? "/")?.form
        if let form, path.hasPrefix("\(form.other.donePath)#") {
            path = form.donePath + String(path.dropFirst(form.other.donePath.count))
        }
        let own = "\(base)\(path)"
        return Self.isPath(location) && Self.isPath(own) ? own : "http://\(host)\(own)"
    }

    /// Whether the backend sends a client from `http` to the same address with `https`, to send its request
    /// again. At this proxy that is the address that the client has just asked for, so it would be sent there
    /// without end. A write that was done is answered with another status, and its answer is passed on.
    func wantsHTTPS(_ response: Response, _ request: Request) -> Bool {
        let repeating =
            Self.onlyReads(request.head.method) ? [301, 302, 303, 307, 308] : [307, 308]
        guard backend.scheme == "http", repeating.contains(response.head.status.code),
            let location = response.head.headerFields[.location],
            location.lowercased().hasPrefix("https://")
        else { return false }
        return ownPath(of: location) == request.head.path
    }

    /// The path and query that an address of the backend has at this proxy; nil for any other address.
    private func ownPath(of location: String) -> String? {
        if Self.isPath(location) { return withoutPrefix(location[...]) }
        let scheme = location.firstRange(of: "//")
        guard let scheme,
            ["", "http:", "https:"].contains(location[..<scheme.lowerBound].lowercased())
        else { return nil }
        let rest = location[scheme.upperBound...]
        let end = rest.firstIndex { "/?#".contains($0) } ?? rest.endIndex
        guard Self.withoutPort(rest[..<end]) == Self.withoutPort(backend.authority[...]) else {
            return nil
        }
        return withoutPrefix(rest[end...])
    }

    /// Whether a location is a path at the server that was asked. After two slashes the name of a server
    /// follows; browsers take a backslash for a slash.
    private static func isPath(_ location: String) -> Bool {
        location.hasPrefix("/") && !["//", "/\\"].contains { location.hasPrefix($0) }
    }

    /// A path without that of the backend's address, beginning with a slash; nil for one that is not below it.
    private func withoutPrefix(_ path: Substring) -> String? {
        guard path.lowercased().hasPrefix(backend.prefix.lowercased()) else { return nil }
        let rest = String(path.dropFirst(backend.prefix.count))
        if rest.hasPrefix("/") { return rest }
        return rest.first.map { "?#".contains($0) } ?? true ? "/" + rest : nil
    }

    /// An authority in lowercase, without port 80 or 443.
    static func withoutPort(_ authority: Substring) -> String {
        let text = authority.lowercased()
        let port = [":80", ":443"].first { text.hasSuffix($0) }
        return String(text.dropLast(port?.count ?? 0))
    }

    /// The link to the next page of a list that was passed through, with the address that the client used.
    /// Of the backend's link only the query is taken, since some backends leave out port or path.
    func nextLink(_ link: String, _ request: Request, _ base: String) -> String {
        guard let host = request.head.authority,
            let match = link.wholeMatch(of: /<?[^?>]*\?(?<query>[^>;]*)>?;\s*rel="?next"?\s*/)
        else { return link }
        return "http://\(host)\(base)\(request.path)?\(match.query); rel=next"
    }
}

extension HTTPField.Name {
    static let link = known("Link")
}
