import Backend
import TablesProtocol

/// Requests of another program to a backend, in the form of its flavour.
extension BackendFlavour {
    var fields: [(String, String)] {
        switch self {
        case .mobileServices: []
        case .mobileApps, .node, .express, .dotnet: [("ZUMO-API-VERSION", "2.0.0")]
        case .datasync, .toolkit: [("ZUMO-API-VERSION", "3.0.0")]
        }
    }

    /// The table that the clients of the matrix use: nothing of the express flavour is named todoitem.
    var table: String { self == .express ? "movies" : "todoitem" }

    /// Whether a deletion leaves no row.
    var deletesForGood: Bool { self == .express }

    /// Whether the server is written in JavaScript: columns have types, numbers are binary doubles.
    var isNode: Bool { self == .node || self == .express }

    /// Whether a table can have integers for ids.
    var hasIntegerIDs: Bool { self == .mobileServices || self == .express }

    /// The backend of the matrix: its table, and `numbers` with integer ids where there can be one.
    var options: BackendOptions {
        var options = BackendOptions(flavour: self)
        options.tokens = self == .express ? .issued : .any
        for name in tables {
            guard let name = TableName(name) else { continue }
            options.tables[name] = .standard(of: self)
            if name.text == "numbers" { options.tables[name]?.idKind = .integer }
        }
        if self == .express, let secrets = TableName("secrets") {
            options.tables[secrets] = TableOptions(softDelete: false, needsSignIn: true)
        }
        return options
    }

    /// The public tables of the proxy.
    var tables: [String] { hasIntegerIDs ? [table, "numbers"] : [table] }

    var isThird: Bool { self == .datasync || self == .toolkit }

    var version: String { self == .mobileServices ? "__version" : "version" }
    var deleted: String { self == .mobileServices ? "__deleted" : "deleted" }

    private func call(
        _ method: String, _ path: String, _ pairs: [String] = [], _ body: String = "",
        table: String? = nil
    ) -> Call {
        let asked = self == .mobileServices ? pairs + ["__systemproperties=*"] : pairs
        let query = asked.isEmpty ? "" : "?" + asked.joined(separator: "&")
        let type = body.isEmpty ? [] : [("Content-Type", "application/json")]
        return Call(
            method: method, target: "/tables/\(table ?? self.table)\(path)\(query)",
            fields: fields + type,
            body: body)
    }

    func all(of table: String? = nil) -> Call {
        call("GET", "", ["__includeDeleted=true", "$orderby=id"], table: table)
    }

    func insert(_ body: String, table: String? = nil) -> Call {
        call("POST", "", [], body, table: table)
    }

    func delete(_ id: String) -> Call { call("DELETE", "/\(id)") }

    func update(_ id: String, _ columns: String) -> Call {
        self == .toolkit
            ? call("PUT", "/\(id)", [], "{\"id\":\"\(id)\",\(columns)}")
            : call("PATCH", "/\(id)", [], "{\(columns)}")
    }
}
