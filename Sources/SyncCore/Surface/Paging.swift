/// How a table of the backend is paged.
public enum Paging: String, Sendable, Hashable, CaseIterable {
    /// By `(updatedAt, id)`.
    case keyset
    /// By `updatedAt`, with `$skip` inside ties.
    case skipInTies = "skip-in-ties"
    /// By `$skip` alone, for rows without `updatedAt`; every pull is a full one.
    case full
}
