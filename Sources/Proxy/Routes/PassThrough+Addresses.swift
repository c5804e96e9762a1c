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
    /// The end of a login gets the form that the client waits for.
    /// - Returns: nil for any other address, also for one without a server.
    func ownLocation(_ location: String, _ request: Request, _ base: String) -> String? {
        guard let host = request.head.authority,
            let mark = location.firstRange(of: "://"),
            ["http", "https"].contains(location[..<mark.lowerBound].lowercased())
        else { return nil }
        let root = backend.authority + backend.prefix
        let rest = location[mark.upperBound...]
        guard rest.lowercased().hasPrefix("\(root)/".lowercased()) else { return nil }
        var path = rest.dropFirst(root.count)
        let form = LoginAddress(target: request.head.path ?? "/")?.form
        if let form, path.hasPrefix("\(form.other.donePath)#") {
            path = form.donePath + path.dropFirst(form.other.donePath.count)
        }
        return "http://\(host)\(base)\(path)"
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
