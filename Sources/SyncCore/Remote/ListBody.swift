import TablesProtocol

/// The body of a list: an array, `{results, count}` or `{items, count, nextLink}`.
enum ListBody {
    /// Cuts the body into rows; nil when it is no list or a row has no id.
    static func parse(_ bytes: [UInt8], generation: Generation) -> RemotePage? {
        if let elements = try? JSONText.elements(ofArray: bytes) {
            return page(elements, generation)
        }
        guard let object = try? Columns(parsing: bytes),
            let list = object["items"] ?? object["results"],
            let elements = try? JSONText.elements(ofArray: Array(list.text.utf8))
        else { return nil }
        let next = object["nextLink"]?.string ?? ""
        var page = page(elements, generation)
        page?.hasNext = !next.isEmpty
        page?.isDatasync = object["items"] != nil
        page?.total = object["count"].flatMap { Int($0.text) }.flatMap { $0 < 0 ? nil : $0 }
        return page
    }

    private static func page(_ elements: [JSONText], _ generation: Generation) -> RemotePage? {
        var rows: [RemoteRow] = []
        rows.reserveCapacity(elements.count)
        for element in elements {
            guard let object = try? Columns(parsing: element.text),
                let row = RemoteRow(object, generation: generation)
            else { return nil }
            rows.append(row)
        }
        return RemotePage(rows: rows, hasNext: false)
    }
}
