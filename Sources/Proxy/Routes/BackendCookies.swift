import HTTPMessage
import HTTPTypes
import Platform
import SyncCore
import Synchronization
import TablesProtocol

/// The header fields of the backend's answers for browsers. The backend's pages have this program's
/// address, so without changes they would run in the dashboard's origin.
enum PassedAnswer {
    /// The fields of the backend's answer as the client gets them.
    ///
    /// 1. `Service-Worker-Allowed` and `Clear-Site-Data` are removed, since they affect the whole origin.
    /// 2. A sandbox policy is added, which gives a page a unique origin. A policy of the backend stays; a
    ///    browser applies both.
    /// 3. Browsers may not keep a page: a kept page would lack a sandbox that was switched on later.
    /// - Parameter isSandboxed: false if the dashboard has another origin, so that the backend's pages may
    ///   have this one.
    static func fields(_ fields: HTTPFields, isSandboxed: Bool) -> HTTPFields {
        var fields = fields
        fields[.serviceWorkerAllowed] = nil
        fields[.clearSiteData] = nil
        if fields[.contentType]?.lowercased().contains("html") == true {
            fields[.cacheControl] = "no-store"
        }
        if isSandboxed {
            fields.append(HTTPField(name: .contentSecurityPolicy, value: sandbox))
        }
        return fields
    }

    /// The policy for pages of the backend: forms, windows and scripts, but no storage, no cookies and no
    /// requests with the dashboard's origin.
    static let sandbox = "sandbox allow-forms allow-popups allow-scripts"
}

/// The names of the cookies that the backend has set through this proxy. Browsers send the cookies of
/// 127.0.0.1 to every port there. Only cookies with these names are sent to the backend.
///
/// The names are on disk, without the values, so that a browser's session with the backend survives a
/// restart of this program. Another backend starts without names.
final class BackendCookies: Sendable {
    private let names: Mutex<[String]>
    private let file: String
    private let backend: String
    private let blockingExecutor: BlockingExecutor

    /// Reads the file. A file of another backend counts as empty.
    init(file: String, backend: BackendAddress, blockingExecutor: BlockingExecutor) {
        self.file = file
        self.backend = backend.description
        self.blockingExecutor = blockingExecutor
        var names: [String] = []
        if let bytes = try? Files.read(file), let kept = try? JSONValue(parsing: bytes),
            kept["backend"]?.string == backend.description
        {
            names = (kept["names"]?.array ?? []).compactMap(\.string)
        }
        self.names = Mutex(names)
    }

    /// The fields of a client's request, with only those cookies that the backend has set.
    func outgoing(_ fields: HTTPFields) -> HTTPFields {
        guard fields.contains(.cookie) else { return fields }
        let known = names.withLock { $0 }
        let own = Self.pairs(of: fields).filter { pair in known.contains(Self.name(of: pair)) }
        var fields = fields
        fields[.cookie] = nil
        // Assignment would make one field for each cookie, which HTTP/1.1 does not allow.
        if !own.isEmpty {
            fields.append(HTTPField(name: .cookie, value: own.joined(separator: "; ")))
        }
        return fields
    }

    /// The fields of the backend's answer, without cookies that have a name of this program's own cookies,
    /// also apart from quotes, and without cookies that have no name. The names of the others are
    /// remembered, at most ``Limits/backendCookies``.
    func incoming(_ fields: HTTPFields) -> HTTPFields {
        let set = fields[fields: .setCookie]
        guard !set.isEmpty else { return fields }
        let kept = set.filter { cookie in
            let name = Self.name(of: cookie.value[...])
            return !name.isEmpty && !OperatorAccess.isOwnCookie(name.filter { $0 != "\"" })
        }
        var fields = fields
        fields[fields: .setCookie] = kept
        learn(kept.map { Self.name(of: $0.value[...]) })
        return fields
    }

    private func learn(_ set: [String]) {
        let isChanged = names.withLock { names in
            let new = set.filter {
                !$0.isEmpty && $0.utf8.count <= Limits.backendCookieNameBytes && !names.contains($0)
            }
            names = Array((names + new).suffix(Limits.backendCookies))
            return !new.isEmpty
        }
        guard isChanged else { return }
        // If the file cannot be written, the names hold until the process ends.
        blockingExecutor.run { [self] in try? Files.write(file, Array(text.utf8)) }
    }

    private var text: String {
        let names = names.withLock { $0 }
        return JSONValue.members(
            ("backend", .string(backend)), ("names", .array(names.map { .string($0) }))
        ).text
    }

    /// The cookies of all `Cookie` fields as `NAME=VALUE`, read by bytes.
    static func pairs(of fields: HTTPFields) -> [Substring] {
        fields[fields: .cookie].flatMap { $0.value[...].pieces(separatedBy: UInt8(ascii: ";")) }
    }

    /// The name of a cookie: what stands before the first equals sign.
    static func name(of cookie: Substring) -> String {
        let name = cookie.utf8.prefix { $0 != UInt8(ascii: "=") && $0 != UInt8(ascii: ";") }
        return Substring(name).pieces(separatedBy: UInt8(ascii: ";")).first.map(String.init) ?? ""
    }
}
