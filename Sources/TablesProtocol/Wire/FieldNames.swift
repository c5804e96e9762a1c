import HTTPMessage
public import HTTPTypes

/// A header field of Understudy's own. Clients that do not know it ignore it.
public struct OwnHeader: Sendable {
    public let name: HTTPField.Name
    public let sender: Sender
    /// What it says, in the words of docs/PROTOCOL.md.
    public let sentence: String

    public enum Sender: String, Sendable { case proxy, site, dashboard }

    private init(_ name: String, from sender: Sender, _ sentence: String) {
        self.name = .known(name)
        self.sender = sender
        self.sentence = sentence
    }

    public static let all = [state, backend, complete, token, deletionsAfter, session]

    public static let state = OwnHeader(
        "Understudy-State", from: .proxy,
        "the item's state: `synced`, `pending`, `conflict` or `quarantined`")
    public static let backend = OwnHeader(
        "Understudy-Backend", from: .proxy,
        "whether the backend can be reached: `online` or `offline`")
    public static let complete = OwnHeader(
        "Understudy-Complete", from: .proxy, "`no` in a list that may lack rows of the backend")
    public static let token = OwnHeader(
        "Understudy-Token", from: .proxy,
        "`unconfirmed; until=TIME` while the backend cannot confirm the client's token")
    public static let deletionsAfter = OwnHeader(
        "Understudy-Deletions-After", from: .site,
        "the latest `updatedAt` of the deleted rows that the table no longer has")
    public static let session = OwnHeader(
        "Understudy-Session", from: .dashboard,
        "in requests: the value of the sign-in that belongs to its cookie")
}

extension HTTPFields {
    /// The value of a field of Understudy's own; nil if it is absent.
    public subscript(own header: OwnHeader) -> String? {
        get { self[header.name] }
        set { self[header.name] = newValue }
    }
}

/// Fields of the SDKs and their servers, in the spelling of the servers: the first Android SDK finds `Link` in no
/// other case.
extension HTTPField.Name {
    public static let zumoAPIVersion = known("ZUMO-API-VERSION")
    public static let zumoApplication = known("X-ZUMO-APPLICATION")
    public static let zumoAuth = known("X-ZUMO-AUTH")
    public static let zumoInstallation = known("X-ZUMO-INSTALLATION-ID")
    static let zumoVersion = known("X-ZUMO-VERSION")
    static let zumoOptions = known("X-ZUMO-Options")
    public static let methodOverride = known("X-HTTP-Method-Override")
    public static let serverVersion = known("x-zumo-server-version")
    public static let link = known("Link")
    static let pragma = known("Pragma")
}
