import HTTPMessage
import HTTPTypes

// Secrets of this program in a target that may go to the backend.
extension Guard {
    /// Refuses a target that holds the operator's token, and one whose path holds the secret of the
    /// address that it was asked at: a second time `/c/…`, or in any of its segments.
    /// - Parameters:
    ///   - asked: the request without its capability address.
    ///   - path: the path of it.
    func secretRefusal(
        _ asked: AddressedRequest, _ space: Space, _ path: TargetPath
    ) -> Refusal? {
        if case .operatorAPI = space { return nil }
        if access.isTokenIn(asked.request.head.path ?? "") {
            return Refusal(
                .target,
                "The operator's token stands in the target, which may go to the backend: send it as "
                    + "`Authorization: Bearer`.")
        }
        guard let secret = asked.secret else { return nil }
        let spelled = SecretEncodings(secret)
        guard
            AddressedRequest(asked.request).secret != nil
                || path.readings.contains(where: { spelled.isIn($0) })
        else { return nil }
        return Refusal(
            .target,
            "The path holds the secret of its address twice: write it once, at the beginning.")
    }
}
