import HTTPMessage
import HTTPTypes
import TablesProtocol

/// The head of a request, read once: its capability address, path and space. Guard, routes and counts use
/// this value. The log at the level `debug`, which shows a path without its secrets, reads the target itself.
struct AddressedRequest: Sendable {
    /// The request as it would be without a capability address.
    let request: Request
    /// The secret of the capability address; nil without one.
    let secret: String?
    /// The path of the capability address, `/c/SECRET` as it was written; empty without one.
    let base: String
    /// A path with the part of the URL space that it belongs to.
    struct Place: Sendable {
        let path: TargetPath
        let space: Space
    }
    /// Where the target leads, or why its path is refused.
    let place: Result<Place, TargetPath.Malformed>
    /// The head as that of a request on `/tables`; nil for a path beside it.
    let tables: TablesHead?
    private let defaultGeneration: Generation

    /// The path of an item's own route of the server, below the item; nil for any other path.
    var pathBelowItem: TablePath? {
        guard let path = try? tables?.path.get(), !path.below.isEmpty else { return nil }
        return path
    }

    /// The space whose rules hold for the body and the answer: what is below an item is passed through.
    func contentSpace(_ space: Space) -> Space { pathBelowItem == nil ? space : .other }

    /// The same for any path, also where it only looks like one of `/tables`.
    var tablesHead: TablesHead {
        tables
            ?? TablesHead(
                request, .failure(.unknownTable(String(request.path))),
                defaultGeneration: defaultGeneration)
    }

    /// The client's SDK, which decides the form of an error.
    var client: ClientFamily { tablesHead.client }

    /// Reads the head of `request`.
    ///
    /// `/c/SECRET` is removed from the target, in any spelling of the first segment. `/C/SECRET` and
    /// `/%63/SECRET` have the same secret, which must reach no backend. `/C/style.css` has no secret, and
    /// is a path of the backend. A target that cannot be decoded has none; its path is refused.
    /// - Parameter defaultGeneration: the generation of a request that shows none.
    init(_ request: Request, defaultGeneration: Generation = .mobileApps) {
        let whole = Self.path(of: request)
        let mayBeAddress = (try? whole.get()).map { $0.root == TargetPath.secretRoot } ?? true
        let path: Result<TargetPath, TargetPath.Malformed>
        if mayBeAddress, let address = Self.separate(request) {
            self.request = address.request
            secret = address.secret
            base = address.base
            path = Self.path(of: address.request)
        } else {
            self.request = request
            secret = nil
            base = ""
            path = whole
        }
        place = path.map {
            Place(path: $0, space: Space($0, method: request.head.method.rawValue))
        }
        let plain = self.request
        let tablePath =
            switch path {
            case .success(let read): TablePath.read(plain.path, read.segments)
            case .failure: TablePath.read(plain.path)
            }
        tables = tablePath.map {
            TablesHead(plain, $0, defaultGeneration: defaultGeneration)
        }
        self.defaultGeneration = defaultGeneration
    }

    private static func path(of request: Request) -> Result<TargetPath, TargetPath.Malformed> {
        do throws(TargetPath.Malformed) { return .success(try TargetPath(request)) } catch {
            return .failure(error)
        }
    }

    /// The request without its capability address; nil for one without.
    private static func separate(
        _ request: Request
    ) -> (request: Request, secret: String, base: String)? {
        let target = request.head.path ?? "/"
        guard let start = secretStart(in: target[...], path: request.path) else { return nil }
        let behind = target.utf8[start...]
        let isEnd: (UInt8) -> Bool = { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") }
        let raw = behind.prefix { !isEnd($0) }
        let rest = behind[raw.endIndex...]
        var plain = request
        plain.head.path =
            rest.first == UInt8(ascii: "/") ? String(Substring(rest)) : "/\(Substring(rest))"
        return (plain, String(Substring(raw)), String(target[..<raw.endIndex]))
    }

    /// Whether the target begins with a capability address again, after one was removed.
    var hasSecondAddress: Bool { secret != nil && Self.separate(request) != nil }

    /// Where the secret begins in a raw target; nil for a target without one.
    private static func secretStart(in target: Substring, path: Substring) -> Substring.Index? {
        let slash = UInt8(ascii: "/")
        guard path.utf8.first == slash else { return nil }
        let first = path.utf8.dropFirst().prefix { $0 != slash }
        guard let segment = try? TargetPath.firstSegment(Substring(first)),
            TargetPath.root(of: segment) == TargetPath.secretRoot,
            Capability.mayHoldSecret(path) || leadsToOwnPath(target)
        else { return nil }
        return first.endIndex < path.endIndex
            ? path.utf8.index(after: first.endIndex) : path.endIndex
    }

    /// Whether a target whose first segment is ``TargetPath/secretRoot`` is an invalid capability address rather than
    /// a path of the backend: its third segment begins one of Understudy's own paths. A `?` in the second
    /// segment counts as part of the invalid secret.
    private static func leadsToOwnPath(_ target: Substring) -> Bool {
        let segments = target.utf8.split(
            separator: UInt8(ascii: "/"), maxSplits: 4, omittingEmptySubsequences: false)
        guard segments.count > 3 else { return false }
        let third = String(decoding: PercentCoding.decodeLeniently(segments[3]), as: UTF8.self)
        return TargetPath.own.contains(TargetPath.root(of: third))
    }
}

/// A part of the URL space, with rules and a handler of its own.
enum Space: Sendable, Hashable {
    /// `/tables/…`: the protocol of the clients.
    case tables
    /// `/-/…`: the operator API and the dashboard.
    case operatorAPI(OperatorArea)
    /// Every other path: passed through to the backend.
    case other

    /// The parts of `/-/`.
    enum OperatorArea: Sendable, Hashable {
        /// Health, metrics and the OpenAPI document: no sign-in.
        case open
        /// The dashboard's files: no sign-in either.
        case page
        /// `POST /-/api/v1/session`: exchanges a one-time link, so it cannot need a sign-in.
        case signIn
        /// The rest of the operator API: a sign-in is required.
        case api
    }

    /// Classifies a path by its decoded segments, as the routes do. So an encoded spelling of a path
    /// (`/%2D/api/…`) is checked by the rules of its route.
    ///
    /// A path whose ``TargetPath/root`` is `tables` or `-` is never passed through.
    init(_ path: TargetPath, method: String) {
        switch path.root {
        case "tables": self = .tables
        case "-":
            let rest = path.segments.dropFirst()
            if rest.first != "api" {
                self = .operatorAPI(Self.health.contains(Array(rest)) ? .open : .page)
            } else if method == "POST", Array(rest) == ["api", "v1", "session"] {
                self = .operatorAPI(.signIn)
            } else {
                self = .operatorAPI(.api)
            }
        default: self = .other
        }
    }

    private static let health = [["livez"], ["readyz"], ["metrics"], ["openapi.json"]]
}
