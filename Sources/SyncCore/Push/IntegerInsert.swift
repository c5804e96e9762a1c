import TablesProtocol

/// An insert into a table whose integer ids the backend assigns. Nothing in the row says whose it
/// is, so a lost answer is recognised by what is new and equal.
enum IntegerInsert {
    /// Asks for the highest id there is: what an insert makes is above it.
    static let highest = PageQuery(
        TableQuery(orderBy: [Ordering(.column(.id), descending: true)], top: 1))

    /// Asks for what was inserted since.
    static func since(_ highest: Int64) -> PageQuery {
        let filter = Expression.binary(
            .greaterThan, .column(.id), .literal(.number(NumberLiteral(highest))))
        return PageQuery(
            TableQuery(
                filter: filter, orderBy: [Ordering(.column(.id))], top: SyncLimits.pullPageRows))
    }

    /// Judges what is new at the backend after an insert of unknown fate.
    ///
    /// One equal row that no other operation claimed is ours; none means that it never arrived;
    /// between several only a person can tell. A list that shows older rows ignored its filter, and may
    /// leave out what is new: it proves nothing.
    static func judge(
        _ subject: PushSubject, _ answer: RemoteAnswer, after highest: Int64, claimed: Set<String>
    ) -> PushDecision {
        if case .missing(let status) = answer { return Verdict.noTable(subject, status) }
        guard case .rows(let page) = answer else { return Verdict.noVerdict(answer) }
        if page.elements.contains(where: { ($0.itemID?.number ?? 0) <= highest }) {
            return Verdict.unclear(
                "The backend's list does not keep to its filter, so whether the item arrived cannot be "
                    + "told.")
        }
        let candidates = page.rows.filter { row in
            !row.isDeleted && !claimed.contains(row.id.text) && subject.isEqual(to: row)
        }
        switch candidates.count {
        case 0: return .sendAgain
        case 1: return .applied(candidates[0])
        default:
            let ids = candidates.map(\.id.text).joined(separator: ", ")
            return .quarantine(
                reason: "ambiguousInsert: it may be any of the equal items \(ids).")
        }
    }
}
