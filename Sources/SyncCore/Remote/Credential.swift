public import HTTPTypes
public import TablesProtocol

/// In whose name the engine speaks to the backend.
public enum Credential: Sendable, Hashable {
    /// Nobody's: the anonymous identity sends no token.
    case none
    /// The header field that carries the identity's token, as its client sent it.
    case token(HTTPField)
    /// The identity has a name but its token is not here, after a restart for example: nothing is
    /// sent until somebody signs in.
    case missing
}

extension HTTPField {
    /// A client's token in the fields where servers of the generation look for it: `X-ZUMO-AUTH` in
    /// the first two, `Authorization: Bearer` in the third, whose apps may keep the older one.
    public func token(for generation: Generation) -> [HTTPField] {
        let bearer = "bearer "
        guard let zumo = HTTPField.Name("X-ZUMO-AUTH") else { return [self] }
        switch generation {
        case .mobileServices, .mobileApps:
            guard name == .authorization, value.lowercased().hasPrefix(bearer) else {
                return [self]
            }
            let text = value.dropFirst(bearer.utf8.count).drop { $0 == " " }
            return [HTTPField(name: zumo, value: String(text))]
        case .datasync:
            guard name == zumo else { return [self] }
            return [self, HTTPField(name: .authorization, value: "Bearer \(value)")]
        }
    }
}
