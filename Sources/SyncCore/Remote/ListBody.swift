import TablesProtocol

/// The body of a list: an array, `{results, count}` or `{items, count, nextLink}`.
enum ListBody {
    /// Cuts the body into its elements; one that is no row is among them (``OddRow``).
    /// - Parameter sharesColumns: see ``RemoteRow/sharesColumns``.
    /// - Returns: nil when the body is no list, or nothing in it has an id.
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
        page.hasNext = !next.isEmpty
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
    case odd(OddRow)

    /// Takes the bytes of an element.
    /// - Parameter sharesColumns: see ``RemoteRow/sharesColumns``.
    init(_ bytes: ArraySlice<UInt8>, generation: Generation, sharesColumns: Bool = false) {
        do throws(JSONError) {
            let object = try Columns(parsing: Array(bytes))
            if var row = RemoteRow(object, generation: generation) {
                row.sharesColumns = sharesColumns
                self = .row(row)
            } else {
                self = .odd(OddRow(bytes, generation, reason: Self.refusal(of: object["id"])))
            }
        } catch {
            self = .odd(OddRow(bytes, generation, reason: "It cannot be read. \(error)"))
        }
    }

    /// The row, where it is one.
    var row: RemoteRow? { if case .row(let row) = self { row } else { nil } }

    /// The id's text, usable or not; nil where none can be read.
    var idText: String? {
        switch self {
        case .row(let row): row.id.text
        case .odd(let odd): odd.id
        }
    }

    /// The id, where it is one that an item can have.
    var itemID: ItemID? {
        switch self {
        case .row(let row): row.id
        case .odd(let odd): odd.id.flatMap { try? ItemID($0) }
        }
    }

    /// The backend's own text of the time of the last change.
    var updatedAt: String? {
        switch self {
        case .row(let row): row.updatedAt
        case .odd(let odd): odd.updatedAt
        }
    }

    /// Why an object has no usable id.
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

/// An element of a backend's list that is no row which can be taken, with what is needed to page past it.
struct OddRow: Sendable, Hashable {
    /// As it came; bytes that are no UTF-8 are replaced.
    var text: String
    /// Why it cannot be taken: one sentence.
    var reason: String
    /// The id's text where one can be read.
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
    /// What is wrong with an id, as it goes on after "Its id".
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
