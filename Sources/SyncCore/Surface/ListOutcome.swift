public import TablesProtocol

/// What a list gives.
public enum ListOutcome: Sendable {
    case page(ItemPage)
    /// What is here so far: the table's first pull has not completed.
    case partial(ItemPage)
    case unknownTable
    /// The query names what this table cannot be asked for.
    case invalid(ODataError)
    /// The query was cut at ``StoreLimits/readBudgetSteps``; run it again where it may take its time.
    case overBudget
    /// The store failed, for this reason.
    case failed(String)
}
