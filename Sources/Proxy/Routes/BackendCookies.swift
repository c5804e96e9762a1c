import HTTPMessage
import HTTPTypes
import SyncCore
import Synchronization
import TablesProtocol

/// The names of the cookies that the backend has set through this proxy. Browsers send every cookie of
/// 127.0.0.1 to every port there; only those with these names go to the backend.
///
/// The names, not the values, are kept on disk, so that a browser's session with the backend outlives a
/// restart. Another backend begins without any.
final class BackendCookies: Sendable {
    private let names: Mutex<[String]>
    private let file: String
    private let backend: String
    private let blockingExecutor: BlockingExecutor

    /// Reads what is kept; what another backend has set does not count.
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

    /// The fields of a client's request with those cookies alone that the backend has set; without the
    /// field where none is left.
    func outgoing(_ fields: HTTPFields) -> HTTPFields {
        guard fields.contains(.cookie) else { return fields }
        let known = names.withLock { $0 }
        let own = Self.pairs(of: fields).filter { pair in known.contains(Self.name(of: pair)) }
        var fields = fields
        fields[.cookie] = nil
        // Assigned, it would become one field for each cookie, which HTTP/1.1 does not allow.
        if !own.isEmpty {
            fields.append(HTTPField(name: .cookie, value: own.joined(separator: "; ")))
        }
        return fields
    }

    /// The fields of the backend's answer without cookies that are named like this program's own, or could
    /// be read so: without a name, or with quotes in it. The names of the others are remembered, at most
    /// ``Limits/backendCookies``.
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
        let isNews = names.withLock { names in
            let new = set.filter {
                !$0.isEmpty && $0.utf8.count <= Limits.backendCookieNameBytes && !names.contains($0)
            }
            names = Array((names + new).suffix(Limits.backendCookies))
            return !new.isEmpty
        }
        guard isNews else { return }
        // What cannot be written is known until the process ends.
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
