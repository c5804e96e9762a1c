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
