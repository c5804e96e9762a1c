import TablesProtocol

/// A list request to the backend, as far as syncing asks for lists.
struct PageQuery: Sendable, Hashable {
    /// `$filter` text, not yet encoded.
    var filter: String?
    /// `$orderby` text.
    var orderBy: String?
    var top: Int?
    var skip = 0
    var includeDeleted = false
    /// Pairs of the developer's own, still encoded.
    var parameters: [String] = []

    /// The query string for a generation, without its question mark.
    func text(for generation: Generation) -> String {
        var pairs: [String] = []
        if let filter { pairs.append("$filter=\(Percent.encode(filter))") }
        if let orderBy { pairs.append("$orderby=\(Percent.encode(orderBy))") }
        if skip > 0 { pairs.append("$skip=\(skip)") }
        if let top { pairs.append("$top=\(top)") }
        if includeDeleted { pairs.append("__includeDeleted=true") }
        if generation == .mobileServices { pairs.append("__systemproperties=*") }
        return (pairs + parameters).joined(separator: "&")
    }
}

/// Literals of `$filter` in the dialect of each generation.
enum FilterText {
    /// A string, its quotes doubled.
    static func string(_ text: String) -> String {
        var quoted = "'"
        for character in text.unicodeScalars {
            if character == "'" { quoted.append("'") }
            quoted.unicodeScalars.append(character)
        }
        return quoted + "'"
    }

    /// An id, quoted unless it is an integer.
    static func id(_ id: ItemID, kind: IDKind) -> String {
        kind == .integer ? id.text : string(id.text)
    }

    /// A point in time in the backend's own text.
    static func instant(_ raw: String, _ generation: Generation) -> String {
        switch generation {
        case .mobileServices, .mobileApps: "datetimeoffset'\(raw)'"
        case .datasync: "cast(\(raw),Edm.DateTimeOffset)"
        }
    }

    /// Both conditions, each in parentheses of its own.
    static func both(_ left: String?, _ right: String?) -> String? {
        switch (left, right) {
        case (let left?, let right?): "(\(left)) and (\(right))"
        case (let left?, nil): left
        case (nil, let right): right
        }
    }
}
