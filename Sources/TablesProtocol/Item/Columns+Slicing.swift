extension Columns {
    /// Cuts an object into its columns in one pass over the bytes, building no trees.
    static func slice(_ bytes: [UInt8]) throws(JSONError) -> [Column] {
        var scanner = JSONScanner()
        try scanner.start(bytes.span)
        guard try scanner.take(UInt8(ascii: "{"), bytes.span) else {
            throw JSONError(.notAnObject, at: scanner.position)
        }
        try scanner.enter()
        var columns: [Column] = []
        columns.reserveCapacity(8)
        var places = NameTable()
        if try !scanner.take(UInt8(ascii: "}"), bytes.span) {
            repeat {
                scanner.skipSpace(bytes.span)
                let position = scanner.position
                let name = try scanner.string(bytes.span)
                guard places.insert(name) == nil else {
                    throw JSONError(.duplicateName(name), at: position)
                }
                try scanner.expect(UInt8(ascii: ":"), bytes.span)
                scanner.skipSpace(bytes.span)
                let start = scanner.position
                try scanner.skipValue(bytes.span)
                let text = try JSONScanner.text(bytes.span, start..<scanner.position)
                columns.append(Column(name, JSONText(trusted: text)))
            } while try scanner.take(UInt8(ascii: ","), bytes.span)
            try scanner.expect(UInt8(ascii: "}"), bytes.span)
        }
        try scanner.expectEnd(bytes.span)
        return columns
    }
}
