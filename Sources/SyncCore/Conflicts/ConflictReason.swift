/// Why something is a conflict, in one sentence for a person.
enum ConflictReason {
    /// The sentence.
    /// - Parameters:
    ///   - kind: what was done here.
    ///   - isGone: the backend has no such row, or keeps it as deleted.
    static func sentence(_ kind: OperationKind, isGone: Bool) -> String {
        switch (kind, isGone) {
        case (.delete, _): "It was changed on the backend after you deleted it here."
        case (.insert, true): "The backend has a deleted item with this id."
        case (.insert, false): "The backend has another item with this id."
        case (.update, true), (.replace, true), (.undelete, true):
            "It was deleted on the backend while you changed it here."
        case (.update, false), (.replace, false), (.undelete, false):
            "It was changed on the backend and here."
        }
    }
}
