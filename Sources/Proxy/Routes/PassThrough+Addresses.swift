import HTTPMessage
import HTTPTypes
import SyncCore
import TablesProtocol

// Addresses that are not the same at the backend: those of signing in and of push between the
// generations, and the backend's own in what it answers.
extension PassThrough {
    /// The target that the backend has for a request.
    ///
    /// 1. Signing in: in the form that servers of the backend's generation have, once it is known.
    /// 2. Push: registrations and installations are not the same thing; a device's installation stands
    ///    for all of its registrations, which are not all known here.
    /// 3. Anything else as it came.
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

    /// Sends a request of signing in. As long as the backend's generation is not known, one that has no
    /// such address is asked again in the other form: that the first changed nothing is certain.
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

    /// An address of the backend as one of this proxy, or the client would leave it; nil for any
    /// other. Where a login ends, it is in the form that the client waits for.
    func own(_ location: String, _ request: Request, _ base: String) -> String? {
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

    /// The next page of a list that was passed through, at the address that the client used. Of the
    /// backend's only the query counts: some name neither port nor path.
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
