/// Why the store could not do something, in a sentence for the operator.
public enum StoreError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The file cannot be opened or made.
    case cannotOpen(String)
    /// The file was written by a newer version.
    case newerVersion(String)
    /// The file is not a store, or damaged.
    case damaged(String)
    /// The disk is full.
    case full(String)
    /// The file has all the pages that its budget allows.
    case overBudget(String)
    /// The file cannot be written.
    case readOnly(String)
    /// Anything else.
    case failed(String)

    /// Whether there was no room, on the disk or within the budget.
    var isFull: Bool {
        switch self {
        case .full, .overBudget: true
        case .cannotOpen, .newerVersion, .damaged, .readOnly, .failed: false
        }
    }

    /// The sentence.
    public var description: String {
        switch self {
        case .cannotOpen(let text), .newerVersion(let text), .damaged(let text), .full(let text),
            .overBudget(let text),
            .readOnly(let text), .failed(let text):
            text
        }
    }
}
