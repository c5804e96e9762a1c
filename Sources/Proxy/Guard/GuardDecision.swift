import HTTPMessage

/// What becomes of a request after the guard looked at its head.
enum GuardDecision: Sendable {
    /// It may be routed.
    case pass(Space)
    /// It is answered already (a preflight).
    case answer(Response)
    /// It is turned away.
    case refuse(Refusal, Space?)
}
