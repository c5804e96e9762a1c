import HTTPTypes
import TablesProtocol

// What the first generation's server makes of the names and values in a query, before it looks at the
// table (`request/request.js`): query options count only for reads, by their exact names.
extension Exchange {
    /// Refuses what the server does not know in a query, or cannot read.
    func checkParameters() throws(Refusal) {
        for (index, parameter) in call.parameters.enumerated() {
            let isFirst = call.parameters[..<index].allSatisfy { $0.name != parameter.name }
            if isFirst { try check(parameter.name) }
        }
        if call.method == .get { _ = try ListQuery(call, profile) }
    }

    private func check(_ name: String) throws(Refusal) {
        let isOption = Self.options.contains(name)
        if isOption, call.method != .get { return }
        let isRepeated = call.parameters.count { $0.name == name } > 1
        switch name.lowercased() {
        case "$filter" where isOption, "$orderby" where isOption, "$select" where isOption:
            // A repeated pair is a list there, which no parser takes.
            if isRepeated { throw invalidQuery("TypeError: \(name) is given more than once") }
        case "$skip" where isOption, "$top" where isOption:
            let text = call.parameter(name) ?? ""
            if isRepeated || ScriptNumber.whole(text) == nil {
                throw Refusal(400, "The value specified for '\(name)' must be a number.")
            }
        case "$inlinecount" where isOption:
            if isRepeated || !["allpages", "none"].contains(call.parameter(name)) {
                throw Refusal(
                    400,
                    "The value specified for inlinecount must be either 'allpages' or 'none'.")
            }
        case "__systemproperties":
            if isRepeated { throw Refusal(400, "\(name) is given more than once") }
            _ = try RowWriter.asked(call, profile)
        case "__includedeleted": break
        case _ where name.hasPrefix("$") || name.hasPrefix("__"):
            throw Refusal(
                400,
                "Invalid query parameter name '\(name)'. Custom query parameter names must not"
                    + " start with $ or __.")
        default: break
        }
    }

    private static let options: Set = [
        "$filter", "$orderby", "$top", "$skip", "$select", "$inlinecount",
    ]

    /// Refuses options that do not fit a list or one item; looked at after the caller is known.
    func checkOptions(onItem: Bool) throws(Refusal) {
        guard call.method == .get else { return }
        let top = call.parameter("$top").flatMap(ScriptNumber.whole) ?? 0
        let skip = call.parameter("$skip").flatMap(ScriptNumber.whole) ?? 0
        if onItem {
            let isOrdered = call.parameter("$orderby")?.isEmpty == false
            let isCounted = call.parameter("$inlinecount") != nil
            if isOrdered || isCounted || skip != 0 || top != 0 {
                throw Refusal(
                    400,
                    "Query options $orderby, $inlinecount, $skip and $top cannot be applied to id"
                        + " queries.")
            }
        } else if let limit = profile.maxTop, top > limit {
            throw Refusal(400, "The value of the $top query option cannot exceed \(limit).")
        } else if top < 0 {
            throw Refusal(
                400, "The value of the $top query option must be greater or equal to 0.")
        }
        for name in call.parameter("$select")?.nonEmpty?.split(
            separator: ",", omittingEmptySubsequences: false) ?? []
        {
            let name = name.filter { $0 != " " }
            if !ColumnRules.isIdentifier(name) {
                throw invalidQuery("Error: \(ColumnRules.notIdentifier(name))")
            }
        }
    }

    private func invalidQuery(_ reason: String) -> Refusal {
        Refusal(400, "Invalid query specified. \(reason)")
    }
}

extension String {
    /// The text; nil when it is empty.
    fileprivate var nonEmpty: String? { isEmpty ? nil : self }
}
