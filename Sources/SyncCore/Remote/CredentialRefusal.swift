/// That the backend said 401 to the engine.
public struct CredentialRefusal: Sendable, Hashable {
    /// What the engine spoke with.
    public var credential: Credential
    /// 1 for the first refusal since the start, and one more for each: what was taken in of an earlier
    /// one is told from news by it.
    public var number: Int

    /// Makes a refusal from its parts.
    public init(credential: Credential, number: Int) {
        self.credential = credential
        self.number = number
    }
}
