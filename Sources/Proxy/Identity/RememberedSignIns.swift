import HTTPTypes
import Logging
import TablesProtocol

/// The engines' tokens, sealed on disk. With them the users' queues are sent after a restart without a new
/// sign-in (`--remember-sign-in`).
final class RememberedSignIns: Sendable {
    private let fields: SharedFile<[String: HTTPField]>
    private let log: Logger

    /// The result of ``open(_:secret:backend:identities:log:random:)``.
    struct Opening: Sendable {
        /// Nil if sign-ins cannot be remembered; then tokens are in memory only.
        var signIns: RememberedSignIns?
        /// A warning for the operator.
        var warning: String?
    }

    /// Opens the file.
    ///
    /// 1. Without the right key nothing is remembered, and the file is not changed. So a start with the
    ///    right key reads it. The users' queues wait for a sign-in meanwhile.
    /// 2. The tokens of a damaged file are lost. The next sign-in is remembered again.
    /// 3. Tokens of another backend are removed, since they must never be sent to this one. So are those of
    ///    identities without a store.
    /// - Parameters:
    ///   - file: the sealed file, 0600.
    ///   - backend: the backend that the tokens may be sent to.
    ///   - identities: the keys of the identities that have a store.
    ///   - random: makes a new secret.
    static func open(
        _ file: String, secret: SealSecret, backend: String, identities: Set<String>,
        log: Logger, random: () -> String
    ) -> Opening {
        do throws(SealProblem) {
            let sealed = try bytes(file)
            let seal = Seal(secret: try secret.find(isSealed: sealed != nil, make: random))
            let fields: [String: HTTPField]
            var warning: String?
            switch sealed.map(seal.open) {
            case nil: fields = [:]
            case .plain(let text):
                fields = Self.fields(text, backend).filter {
                    identities.contains($0.key)
                }
            case .otherKey:
                throw SealProblem("\(file) is sealed with another key than the one that is here")
            case .damaged:
                fields = [:]
                warning = "The remembered sign-ins are damaged: their users have to sign in again."
            }
            let signIns = RememberedSignIns(fields, seal, file, backend, log)
            if sealed != nil {
                signIns.fields.change { _ in true }
                signIns.save()
            }
            return Opening(signIns: signIns, warning: warning)
        } catch {
            return Opening(
                warning: "Sign-ins are not remembered, so users have to sign in again: \(error).")
        }
    }

    private init(
        _ fields: [String: HTTPField], _ seal: Seal, _ file: String, _ backend: String,
        _ log: Logger
    ) {
        self.log = log
        self.fields = SharedFile(fields) { fields in
            do throws(FileFailure) {
                try Files.write(file, seal.close(Array(Self.text(fields, backend).utf8)))
                return nil
            } catch {
                return error
            }
        }
    }

    /// The remembered header field of an identity; nil if there is none. Never waits for the file.
    func field(of identity: String) -> HTTPField? { fields.read { $0[identity] } }

    /// Sets or removes the header field of an identity. The change is on disk after ``save()``.
    func set(_ field: HTTPField?, of identity: String) {
        fields.change { fields in
            guard fields[identity] != field else { return false }
            fields[identity] = field
            return true
        }
    }

    /// Blocks until all earlier changes are on disk. A failure is logged, and the changes hold in memory
    /// until the process ends.
    func save() {
        do throws(FileFailure) {
            try fields.save()
        } catch {
            log.warning("sign-ins not remembered", metadata: ["problem": "\(error)"])
        }
    }

    private static func text(_ fields: [String: HTTPField], _ backend: String) -> String {
        let signIns = fields.sorted { $0.key < $1.key }.map { identity, field in
            JSONValue.members(
                ("identity", .string(identity)), ("name", .string(field.name.rawName)),
                ("value", .string(field.value)))
        }
        return JSONValue.members(
            ("backend", .string(backend)), ("signIns", .array(signIns))
        ).text
    }

    private static func bytes(_ file: String) throws(SealProblem) -> [UInt8]? {
        do {
            return try Files.read(file)
        } catch {
            throw SealProblem("\(error)")
        }
    }

    /// The fields in the opened text; none if they are for another backend.
    private static func fields(_ text: [UInt8], _ backend: String) -> [String: HTTPField] {
        guard let kept = try? JSONValue(parsing: text), kept["backend"]?.string == backend
        else { return [:] }
        var fields: [String: HTTPField] = [:]
        for entry in kept["signIns"]?.array ?? [] {
            if let identity = entry["identity"]?.string,
                let name = entry["name"]?.string.flatMap({ HTTPField.Name($0) }),
                let value = entry["value"]?.string
            {
                fields[identity] = HTTPField(name: name, value: value)
            }
        }
        return fields
    }
}
