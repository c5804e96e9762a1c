import HTTPTypes
import Logging
import TablesProtocol

/// The tokens that the engines send, sealed on disk, so that after a restart the identities' queues go
/// on without a sign-in (`--remember-sign-in`).
final class RememberedSignIns: Sendable {
    private let fields: SharedFile<[String: HTTPField]>
    private let log: Logger

    /// What opening gives.
    struct Opening: Sendable {
        /// Nil when nothing can be remembered: then tokens are in memory only.
        var signIns: RememberedSignIns?
        /// What a person should know.
        var warning: String?
    }

    /// Opens what is kept.
    ///
    /// 1. Without the right key nothing is remembered and nothing is changed, so that a start with
    ///    the right one finds all. The identities' queues wait for a sign-in meanwhile.
    /// 2. What is damaged is lost: remembering begins anew with the next sign-in.
    /// 3. Tokens of another backend are forgotten, since they must never reach this one; so are
    ///    those of identities that have no store any more.
    /// - Parameters:
    ///   - file: what is sealed, 0600.
    ///   - backend: the only one that the tokens may go to.
    ///   - identities: the keys of those that have a store.
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

    /// What an identity's engine sent last; nil when it is not remembered. Never waits for the file.
    func field(of identity: String) -> HTTPField? { fields.read { $0[identity] } }

    /// Remembers what an identity's engine sends, or forgets it. It is on disk after ``save()``.
    func keep(_ field: HTTPField?, of identity: String) {
        fields.change { fields in
            guard fields[identity] != field else { return false }
            fields[identity] = field
            return true
        }
    }

    /// Returns when all that was kept and forgotten before is on disk; blocks. Where that fails, the log
    /// says so, and it holds until the process ends.
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

    /// What was sealed, as far as it is for this backend.
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
