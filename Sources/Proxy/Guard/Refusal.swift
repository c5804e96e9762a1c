import HTTPMessage
import HTTPTypes
import TablesProtocol

/// Why the guard refused a request.
struct Refusal: Sendable, Hashable {
    /// The check that failed. The raw value is counted and shown.
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

    /// The check that failed.
    let reason: Reason
    /// One sentence for a person, with what to do.
    let sentence: String
    /// The refused Host or Origin for the operator: scheme and host, never a credential.
    let detail: String?

    /// Makes a refusal.
    init(_ reason: Reason, _ sentence: String, detail: String? = nil) {
        self.reason = reason
        self.sentence = sentence
        self.detail = detail.map {
            String(Self.schemeAndHost($0).prefix(Limits.refusalDetailCharacters))
        }
    }

    /// The status of the answer.
    var status: HTTPResponse.Status { reason.status }

    /// The scheme and the host of an address, or the host alone. The rest may contain the secret of a
    /// capability address, also in an invalid address, so it is not shown.
    private static func schemeAndHost(_ address: String) -> Substring {
        let mark = address.firstRange(of: "://")
        if let mark, !address[..<mark.lowerBound].utf8.allSatisfy(PercentCoding.isUnreserved) {
            return ""
        }
        let host = address[(mark?.upperBound ?? address.startIndex)...].prefix {
            !"/\\?#".contains($0)
        }
        return address[..<host.endIndex]
    }

    /// The refusal as an error of `/tables`; nil for checks before the space is known, and for checks of the
    /// operator API.
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
