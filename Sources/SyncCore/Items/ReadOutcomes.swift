public import TablesProtocol

public enum ListOutcome: Sendable {
    case page(ItemPage)
    /// What is here so far: the table's first pull has not completed.
    case partial(ItemPage)
    /// Only a part of the table is copied (``TablePart``), and the list may have other rows.
    case beyondPart
    case unknownTable
    /// The query names what this table cannot be asked for.
    case invalid(ODataError)
    /// The query was cut: by its budget of steps, by ``StoreLimits/readMilliseconds``, or because no one
    /// wants the rows any more. After the short budget it can run again where it may take its time.
    case overBudget
    /// The store failed, for this reason.
    case failed(StoreError)

    /// The same rows as a part of those that there are.
    public var asPart: ListOutcome {
        if case .page(let page) = self { .partial(page) } else { self }
    }

    public var asWhole: ListOutcome {
        if case .partial(let page) = self { .page(page) } else { self }
    }
}

/// What a look-up by id gives.
public enum GetOutcome: Sendable, Hashable {
    case item(Item, state: ItemState)
    case missing
    /// Only the tombstone is left.
    case gone(Item)
    case unknownTable
    /// Not here, and it is not known whether it exists: before the first pull, and beyond the part of a table.
    case unknownWhilePartial
    /// The store failed, for this reason.
    case failed(StoreError)
}

/// How an item stands to the backend.
public enum ItemState: String, Sendable, Hashable, CaseIterable {
    case synced, pending, conflict, quarantined
}

extension ItemState {
    /// The state that an item has by its first open operation's; nil for none.
    init(pending state: String?) {
        switch state.flatMap(OperationState.init) {
        case .conflict: self = .conflict
        case .quarantined: self = .quarantined
        case .queued, .sending, .waiting, .unknown: self = .pending
        case .done, .discarded, .collapsed, nil: self = .synced
        }
    }
}

/// Why a list could not be read: an outcome without a page.
public struct NoList: Error, Sendable {
    public let outcome: ListOutcome

    init(_ outcome: ListOutcome) { self.outcome = outcome }
}
