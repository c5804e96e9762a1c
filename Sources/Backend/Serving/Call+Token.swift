import HTTPTypes
import TablesProtocol

extension Call {
    /// The token of the request in the field where servers of the generation look for it.
    func token(_ generation: Generation) -> String? {
        generation == .datasync ? bearerToken : field("X-ZUMO-AUTH")
    }

    /// The token in the field of any generation.
    var verifiableToken: String? {
        field("X-ZUMO-AUTH").flatMap { $0.isEmpty ? nil : $0 } ?? bearerToken
    }

    /// The token of `Authorization: Bearer` (RFC 6750, section 2.1).
    var bearerToken: String? {
        guard let value = field(.authorization) else { return nil }
        let parts = value.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { return nil }
        return String(parts[1])
    }
}
