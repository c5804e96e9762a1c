import HTTPTypes
import TablesProtocol

extension Exchange {
    /// Refuses what the first generation's server does not know in a query.
    func checkParameters() throws(Refusal) {
        _ = try RowWriter.asked(call, profile)
        for parameter in call.parameters where isReserved(parameter.name) {
            if !Self.known.contains(parameter.name.lowercased()) {
                throw Refusal(
                    400,
                    "Invalid query parameter name '\(parameter.name)'. Custom query parameter names"
                        + " must not start with $ or __.")
            }
        }
        guard case .item(let name, let id) = call.route else { return }
        if call.method == .get, let name = call.parameters.first(where: isOfLists) {
            throw Refusal(400, "The query option '\(name.name)' is not supported for one item.")
        }
        try checkNumber(name, id)
    }

    private static let known: Set = [
        "$filter", "$orderby", "$top", "$skip", "$select", "$inlinecount", "__includedeleted",
        "__systemproperties",
    ]

    private func isReserved(_ name: String) -> Bool { name.hasPrefix("$") || name.hasPrefix("__") }

    private func isOfLists(_ parameter: Call.Parameter) -> Bool {
        ["$orderby", "$inlinecount", "$skip"].contains(parameter.name)
            || (parameter.name == "$top" && parameter.value != "0")
    }

    private func checkNumber(_ name: TableName, _ id: String) throws(Refusal) {
        guard let table = try? Tables.find(database, name), table.options.idKind == .integer,
            Int64(id) == nil
        else { return }
        throw Refusal(400, "The value specified for 'id' must be a number.")
    }
}
