import HTTPTypes

extension HTTPFields {
    /// The header fields of the SDKs.
    enum Zumo: String {
        case apiVersion = "ZUMO-API-VERSION"
        case application = "X-ZUMO-APPLICATION"
        case version = "X-ZUMO-VERSION"
        case options = "X-ZUMO-Options"
        case methodOverride = "X-HTTP-Method-Override"
        case serverVersion = "x-zumo-server-version"
        case link = "Link"
        case pragma = "Pragma"
    }

    /// The value of a field of the SDKs, nil when absent.
    subscript(zumo: Zumo) -> String? {
        get { HTTPField.Name(zumo.rawValue).flatMap { self[$0] } }
        set { if let name = HTTPField.Name(zumo.rawValue) { self[name] = newValue } }
    }
}
