#if DEBUG
    import Synchronization
#endif

/// A bug that a debug build of the product can be told to have, one for each rule whose breach the
/// simulator must notice. A release build has none of them.
package enum ProductBug: String, CaseIterable, Sendable {
    /// An operation that follows another is sent over the server's row without a merge.
    case successorOverwrites
    /// A replacement sets columns to null that its client never saw.
    case replaceErases
    /// An edited result is taken for the whole row.
    case editedResultIsWholeRow
    /// An undo writes what another writer has changed since.
    case undoOverwrites
    /// To keep mine sends the whole local row.
    case mineRevertsTheirs
    /// A pull leaves a conflict's revision as it is.
    case staleDecisionIsTaken
    /// What was deleted before it was ever sent is brought back as if the backend had it.
    case deleteForgetsInsert
    /// What followed a merged operation follows nothing.
    case foldOrphansSuccessor
    /// An item that was given up stays, though the backend has none.
    case discardKeepsRow
    /// The policy `merge` sends again what may have taken effect.
    case mergeSendsTwice
    /// One row that cannot be taken ends the pull.
    case unusableRowStopsPull
    /// A table counts as complete although its pull has failed.
    case failedPullCompletes
    /// An empty list changes the generation that was found out before.
    case strayListRebinds
    /// A list that ignored its filter proves that a row is missing.
    case ignoredFilterProves
    /// A sync that is asked for leaves what waits, and says that it is complete.
    case explicitSyncLeavesWaiting
    /// A table that is not there for a moment has its writes refused.
    case missingTableRefuses
    /// A push that the backend took as it was changes version and stamp.
    case pushIsVisible
    /// A request that failed is taken for one that was never sent, when the proof after it is answered 401.
    case signInForgetsRequest
    /// A table's 503 is taken for the backend's, so that no other table is pushed or pulled.
    case tableFailureIsBackends
    /// A time that the backend named for a table is not obeyed.
    case tableWaitIgnored
    /// A pulled row is laid over local changes.
    case pullOverwrites
    /// A row without a version is not read before it is written.
    case unversionedOverwrites
    /// An undelete whose row has no known version is sent without a condition.
    case undeleteIsUnconditional
    /// A client's undelete of a row that the backend does not have inserts it.
    case undeleteInserts
    /// A refusal that is not about a version is called a conflict, or is tried again.
    case refusalIsConflict
    /// A page that is short because rows change makes the next pull's pages as small.
    case shortPageShrinksPages
    /// A table whose backend refuses to sort is not copied, because its links are not followed.
    case unlinkedPageEnds
    /// A pull starts behind its token while rows of that time may still be committed.
    case settledTooEarly
    /// An update is merged into the delete that follows it, although the table deletes softly.
    case updateFoldedAway
    /// An undelete does not send the update that was merged into the delete.
    case undeleteForgetsUpdate
    /// An update is merged into its item's operation although another item was inserted in between.
    case updateMovesBeforeInsert
    /// What was refused before the item that it names was there is not tried again.
    case refusedIsNotTriedAgain
    /// A client's version ends when the backend sets a column that the client did not send.
    case ownVersionEnds
    /// A client's version stays good although another writer has changed the column that it changes.
    case ownVersionOutlivesOthers
    /// An insert that is answered with the id of a deleted item is sent again.
    case repeatedIDIsSentAgain
    /// The id that a client was given first leads to another row after its item is deleted.
    case aliasOutlivesItem
    /// A provisional id is one that the table has.
    case provisionalIDIsTaken
    /// A list with query pairs of the client's own has all rows of the store.
    case parametersForgotten
}

extension Store {
    #if DEBUG
        /// Gives the store and its engine a bug.
        package func plant(_ bug: ProductBug?) { work.planted.withLock { $0 = bug } }

        var plantedBug: ProductBug? { work.planted.withLock { $0 } }
    #else
        /// The bug that was planted: never one in a release build.
        var plantedBug: ProductBug? { nil }
    #endif

    func has(_ bug: ProductBug) -> Bool { plantedBug == bug }
}

extension Transaction {
    /// Whether the bug was planted; never in a release build.
    func has(_ bug: ProductBug) -> Bool {
        #if DEBUG
            return planted == bug
        #else
            return false
        #endif
    }
}
