import TablesProtocol

/// The body of a list: an array, `{results, count}` or `{items, count, nextLink}`.
enum ListBody {
    /// Splits the body into its elements, including unusable ones (``UnusableRow``).
    /// - Parameter sharesColumns: see ``RemoteRow/sharesColumns``.
    /// - Returns: nil if the body is not a list, or if it has elements and none of them has an id.
    static func parse(
        _ bytes: [UInt8], generation: Generation, sharesColumns: Bool = false
    ) -> RemotePage? {
        let element = { ListElement($0, generation: generation, sharesColumns: sharesColumns) }
        guard let page = list(bytes, element) else { return nil }
        return page.elements.isEmpty || page.elements.contains { $0.idText != nil } ? page : nil
    }

    private static func list(
        _ bytes: [UInt8], _ element: (ArraySlice<UInt8>) -> ListElement
    ) -> RemotePage? {
        if let elements = JSONCutter.elements(ofArray: bytes[...]) {
            return RemotePage(elements: elements.map(element), hasNext: false)
        }
        guard let members = JSONCutter.members(ofObject: bytes[...]) else { return nil }
        func member(_ name: String) -> ArraySlice<UInt8>? {
            members.last { $0.name == name }?.value
        }
        let items = member("items")
        guard let list = items ?? member("results"),
            let elements = JSONCutter.elements(ofArray: list)
        else { return nil }
        var page = RemotePage(elements: elements.map(element), hasNext: false)
        let next = member("nextLink").flatMap(text)?.string ?? ""
        (page.hasNext, page.next) = (!next.isEmpty, next.isEmpty ? nil : next)
        page.isDatasync = items != nil
        let total = member("count").flatMap(text).flatMap { Int($0.text) }
        page.total = total.flatMap { $0 < 0 ? nil : $0 }
        return page
    }

    private static func text(_ bytes: ArraySlice<UInt8>) -> JSONText? {
        try? JSONText(validating: Array(bytes))
    }
}

/// One element of a backend's list.
enum ListElement: Sendable, Hashable {
    case row(RemoteRow)
    case unusable(UnusableRow)

    /// Parses the bytes of an element.
    /// - Parameter sharesColumns: see ``RemoteRow/sharesColumns``.
    init(_ bytes: ArraySlice<UInt8>, generation: Generation, sharesColumns: Bool = false) {
        do throws(JSONError) {
            let object = try Columns(parsing: Array(bytes))
            if var row = RemoteRow(object, generation: generation) {
                row.sharesColumns = sharesColumns
                self = .row(row)
            } else {
                self = .unusable(
                    UnusableRow(bytes, generation, reason: Self.refusal(of: object["id"])))
            }
        } catch {
            self = .unusable(UnusableRow(bytes, generation, reason: "It cannot be read. \(error)"))
        }
    }

    /// The row; nil for an unusable element.
    var row: RemoteRow? { if case .row(let row) = self { row } else { nil } }

    /// The id's text, even if no item can have it; nil if none can be read.
    var idText: String? {
        switch self {
        case .row(let row): row.id.text
        case .unusable(let unusable): unusable.id
        }
    }

    /// The id; nil if no item can have it.
    var itemID: ItemID? {
        switch self {
        case .row(let row): row.id
        case .unusable(let unusable): unusable.id.flatMap { try? ItemID($0) }
        }
    }

    /// The backend's own text of `updatedAt`.
    var updatedAt: String? {
        switch self {
        case .row(let row): row.updatedAt
        case .unusable(let unusable): unusable.updatedAt
        }
    }

    /// Why an object's id is unusable: one sentence.
    private static func refusal(of id: JSONText?) -> String {
        guard let id, !id.isNull else { return "It has no id." }
        guard let text = id.string else { return "Its id is neither text nor a whole number." }
        do throws(ItemID.Refusal) {
            _ = try ItemID(text)
            return "Its id cannot be read."
        } catch {
            return "Its id \(error.words)."
        }
    }
}

/// An element of a backend's list that cannot be applied, with what paging needs.
struct UnusableRow: Sendable, Hashable {
    /// The element's text; invalid UTF-8 is replaced.
    var text: String
    /// Why it cannot be applied: one sentence.
    var reason: String
    /// The id's text; nil if none can be read.
    var id: String?
    var updatedAt: String?

    init(_ bytes: ArraySlice<UInt8>, _ generation: Generation, reason: String) {
        text = String(decoding: bytes, as: UTF8.self)
        self.reason = reason
        for (name, value) in JSONCutter.members(ofObject: bytes) ?? [] {
            guard let value = try? JSONText(validating: Array(value)) else { continue }
            if name == "id", id == nil {
                id = value.string ?? value.value.integer.map { String($0) }
            } else if case .updatedAt = SystemProperty(named: name, in: generation) {
                updatedAt = value.string
            }
        }
    }
}

extension ItemID.Refusal {
    /// What is wrong with an id: the end of a sentence that begins with "Its id".
    fileprivate var words: String {
        switch self {
        case .empty: "is empty"
        case .tooLong(let units): "is longer than \(units) characters"
        case .forbiddenCharacter(let scalar):
            "has the character \(Self.shown(scalar)), which no client can name"
        case .dots: "is . or .., which no client can name"
        }
    }

    private static func shown(_ scalar: Unicode.Scalar) -> String {
        let isVisible = scalar.isASCII && scalar.value > 0x20 && scalar.value != 0x7F
        return isVisible ? "'\(scalar)'" : "U+" + String(scalar.value, radix: 16, uppercase: true)
    }
}
