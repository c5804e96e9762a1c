import HTTPMessage
import HTTPTypes
import TablesProtocol

/// The requests of one SDK family: fields, names, verbs. They are taken from the SDKs, not from the code
/// under test.
struct SDK: Sendable {
    let family: ClientFamily
    var table = "todoitem"

    var isFirst: Bool { family == .mobileServices }
    var isThird: Bool { family == .datasync || family == .toolkit }

    /// The header fields of every request of the family.
    var fields: [(String, String)] {
        switch family {
        case .mobileServices:
            [
                ("X-ZUMO-APPLICATION", "key"), ("X-ZUMO-INSTALLATION-ID", "7d4a9b"),
                ("X-ZUMO-VERSION", "ZUMO/1.3 (lang=Managed; os=Windows; version=1.3.2)"),
            ]
        case .mobileApps:
            [
                ("ZUMO-API-VERSION", "2.0.0"), ("X-ZUMO-INSTALLATION-ID", "7d4a9b"),
                ("X-ZUMO-VERSION", "ZUMO/4.2 (lang=Managed; os=Windows; version=4.2.0)"),
                ("X-ZUMO-FEATURES", "TT,OL"),
            ]
        case .datasync:
            [
                ("ZUMO-API-VERSION", "3.0.0"), ("X-ZUMO-INSTALLATION-ID", "7d4a9b"),
                ("X-ZUMO-VERSION", "Datasync/6.0 (lang=Managed)"),
                ("X-ZUMO-Options", "nextLink=path"),
            ]
        case .toolkit: [("User-Agent", "Datasync/8.0.0 (lang=Managed)")]
        }
    }

    /// The system properties of the family.
    var properties: [String] {
        switch family {
        case .mobileServices: ["__createdAt", "__updatedAt", "__version", "__deleted"]
        case .mobileApps: ["createdAt", "updatedAt", "version", "deleted"]
        case .datasync, .toolkit: ["updatedAt", "version", "deleted"]
        }
    }

    var version: String { isFirst ? "__version" : "version" }
    var updatedAt: String { isFirst ? "__updatedAt" : "updatedAt" }
    var deleted: String { isFirst ? "__deleted" : "deleted" }

    /// The query pairs for the number of rows and for deleted rows.
    var count: String { isThird ? "$count=true" : "$inlinecount=allpages" }
    var withDeleted: String { isThird ? "__includedeleted=true" : "__includeDeleted=true" }

    /// A filter on the beginning of the word, and on the time of the last change.
    func contains(_ word: String) -> String {
        isThird ? "contains(text,'\(word)')" : "substringof('\(word)',text)"
    }
    func changedSince(_ instant: String) -> String {
        isThird
            ? "(updatedAt gt cast(\(instant),Edm.DateTimeOffset))"
            : "(\(updatedAt) ge datetimeoffset'\(instant)')"
    }

    // MARK: Calls

    func list(_ options: String...) -> Call {
        let slash = family == .toolkit ? "/" : ""
        return call("GET", "/tables/\(table)\(slash)", options: options)
    }

    func get(_ id: String, _ options: String...) -> Call {
        call("GET", "/tables/\(table)/\(id)", options: options)
    }

    func insert(_ body: String) -> Call { call("POST", "/tables/\(table)", body: body) }

    /// The first and second generation send what changed, the third the whole item.
    func update(
        _ id: String, _ changes: String, whole: String, ifMatch: String? = nil
    ) -> Call {
        isThird
            ? replace(id, whole, ifMatch: ifMatch)
            : call(
                "PATCH", "/tables/\(table)/\(id)", body: "{\(changes)}", ifMatch: ifMatch)
    }

    func replace(_ id: String, _ whole: String, ifMatch: String? = nil) -> Call {
        call(
            "PUT", "/tables/\(table)/\(id)", body: "{\"id\":\"\(id)\",\(whole)}",
            ifMatch: ifMatch)
    }

    func delete(_ id: String, ifMatch: String? = nil) -> Call {
        call("DELETE", "/tables/\(table)/\(id)", ifMatch: ifMatch)
    }

    func undelete(_ id: String, whole: String) -> Call {
        switch family {
        case .mobileServices, .mobileApps: call("POST", "/tables/\(table)/\(id)")
        case .datasync: call("PATCH", "/tables/\(table)/\(id)", body: "{\"deleted\":false}")
        case .toolkit:
            call(
                "PUT", "/tables/\(table)/\(id)", options: ["__includedeleted=true"],
                body: "{\"id\":\"\(id)\",\(whole)}")
        }
    }

    private func call(
        _ method: String, _ path: String, options: [String] = [], body: String = "",
        ifMatch: String? = nil
    ) -> Call {
        var pairs = options.map(Call.encoded)
        if isFirst { pairs.append("__systemproperties=*") }
        var fields = fields
        if !body.isEmpty { fields.append(("Content-Type", "application/json; charset=utf-8")) }
        if let ifMatch { fields.append(("If-Match", "\"\(ifMatch)\"")) }
        let query = pairs.isEmpty ? "" : "?" + pairs.joined(separator: "&")
        return Call(method: method, target: path + query, fields: fields, body: body)
    }
}
