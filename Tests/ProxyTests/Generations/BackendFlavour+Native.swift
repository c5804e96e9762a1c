import ReferenceBackend
import TablesProtocol

/// How another program speaks to a backend of a flavour, in the backend's own way.
extension BackendFlavour {
    private var fields: [(String, String)] {
        switch self {
        case .mobileServices: []
        case .mobileApps, .node, .dotnet: [("ZUMO-API-VERSION", "2.0.0")]
        case .datasync, .toolkit: [("ZUMO-API-VERSION", "3.0.0")]
        }
    }

    var isThird: Bool { self == .datasync || self == .toolkit }

    var version: String { self == .mobileServices ? "__version" : "version" }
    var deleted: String { self == .mobileServices ? "__deleted" : "deleted" }

    private func call(
        _ method: String, _ path: String, _ pairs: [String] = [], _ body: String = ""
    ) -> Call {
        let asked = self == .mobileServices ? pairs + ["__systemproperties=*"] : pairs
        let query = asked.isEmpty ? "" : "?" + asked.joined(separator: "&")
        let type = body.isEmpty ? [] : [("Content-Type", "application/json")]
        return Call(
            method: method, target: "/tables/todoitem\(path)\(query)", fields: fields + type,
            body: body)
    }

    var all: Call { call("GET", "", ["__includeDeleted=true", "$orderby=id"]) }
    func insert(_ body: String) -> Call { call("POST", "", [], body) }
    func delete(_ id: String) -> Call { call("DELETE", "/\(id)") }

    func update(_ id: String, _ columns: String) -> Call {
        self == .toolkit
            ? call("PUT", "/\(id)", [], "{\"id\":\"\(id)\",\(columns)}")
            : call("PATCH", "/\(id)", [], "{\(columns)}")
    }
}
