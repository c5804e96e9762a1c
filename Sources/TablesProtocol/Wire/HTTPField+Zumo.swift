import HTTPTypes

extension HTTPFields {
    /// Header fields that HTTPTypes has no names for.
    enum Zumo: Int, CaseIterable {
        case apiVersion, application, version, options, methodOverride, serverVersion, link, pragma

        /// The name; never nil, since all of them are tokens.
        var name: HTTPField.Name? { Self.names[rawValue] }

        private static let names = allCases.map { HTTPField.Name($0.text) }

        /// The spelling matters: the first Android SDK knows `Link` in no other case.
        private var text: String {
            switch self {
            case .apiVersion: "ZUMO-API-VERSION"
            case .application: "X-ZUMO-APPLICATION"
            case .version: "X-ZUMO-VERSION"
            case .options: "X-ZUMO-Options"
            case .methodOverride: "X-HTTP-Method-Override"
            case .serverVersion: "x-zumo-server-version"
            case .link: "Link"
            case .pragma: "Pragma"
            }
        }
    }

    /// The value of such a field, nil when absent.
    subscript(zumo: Zumo) -> String? {
        get { zumo.name.flatMap { self[$0] } }
        set { if let name = zumo.name { self[name] = newValue } }
    }
}
