extension JSONText {
    /// Cuts the bytes of one JSON array into the texts of its elements, building no trees.
    /// - Throws: ``JSONError`` when they are not exactly one array.
    public static func elements(ofArray bytes: [UInt8]) throws(JSONError) -> [JSONText] {
        var scanner = JSONScanner()
        try scanner.start(bytes.span)
        guard try scanner.take(UInt8(ascii: "["), bytes.span) else {
            throw JSONError(.unexpectedByte(bytes[scanner.position]), at: scanner.position)
        }
        try scanner.enter()
        var elements: [JSONText] = []
        if try !scanner.take(UInt8(ascii: "]"), bytes.span) {
            repeat {
                scanner.skipSpace(bytes.span)
                let start = scanner.position
                try scanner.skipValue(bytes.span)
                let text = try JSONScanner.text(bytes.span, start..<scanner.position)
                elements.append(JSONText(trusted: text))
            } while try scanner.take(UInt8(ascii: ","), bytes.span)
            try scanner.expect(UInt8(ascii: "]"), bytes.span)
        }
        try scanner.expectEnd(bytes.span)
        return elements
    }
}
