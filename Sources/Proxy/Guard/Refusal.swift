import HTTPMessage
import HTTPTypes
import TablesProtocol

/// Why the guard turned a request away.
struct Refusal: Sendable, Hashable {
    /// The step of the pipeline that refused; counted and shown by this word.
    enum Reason: String, Sendable, Hashable, CaseIterable {
        case address
        case method
        case methodOverride = "method-override"
        case serviceWorker = "service-worker"
        case host
        case target
        case tooLarge = "too-large"
        case origin = "cross-origin"
        case port = "wrong-port"
        case capability
        case signIn = "sign-in-required"
        case contentType = "content-type"

        /// The status of the answer.
        var status: HTTPResponse.Status {
            switch self {
            case .address, .serviceWorker, .origin: .forbidden
            case .port: .notFound
            case .method: .methodNotAllowed
            case .methodOverride, .target: .badRequest
            case .host: .misdirectedRequest
            case .tooLarge: .contentTooLarge
            case .capability, .signIn: .unauthorized
            case .contentType: .unsupportedMediaType
            }
        }
    }

    /// The step that refused.
    let reason: Reason
    /// One sentence for a person, with what to do.
    let sentence: String
    /// What was refused (the Host or Origin), for the operator: scheme and host, never a credential.
    let detail: String?

    /// Makes a refusal.
    init(_ reason: Reason, _ sentence: String, detail: String? = nil) {
        self.reason = reason
        self.sentence = sentence
        self.detail = detail.map {
            String(Self.place($0).prefix(Limits.refusalDetailCharacters))
        }
    }

    /// The status of the answer.
    var status: HTTPResponse.Status { reason.status }

    /// The scheme and the host of an address, or the host alone. What follows may hold the secret of a
    /// capability address, also where the address is written wrongly, and is nothing to show.
    private static func place(_ address: String) -> Substring {
        let mark = address.firstRange(of: "://")
        if let mark, !address[..<mark.lowerBound].utf8.allSatisfy(PercentCoding.isUnreserved) {
            return ""
        }
        let host = address[(mark?.upperBound ?? address.startIndex)...].prefix {
            !"/\\?#".contains($0)
        }
        return address[..<host.endIndex]
    }

    /// The same as an error of `/tables`; nil for what is refused before the space is known, and
    /// for what only the operator API asks.
    func tablesError(_ limitBytes: Int) -> TablesError? {
        switch reason {
        case .origin: .forbidden(sentence)
        case .methodOverride: .methodOverride
        case .tooLarge: .bodyTooLarge(limitBytes: limitBytes)
        case .contentType: .unsupportedContentType
        case .address, .method, .serviceWorker, .port, .host, .target, .capability, .signIn: nil
        }
    }
}
