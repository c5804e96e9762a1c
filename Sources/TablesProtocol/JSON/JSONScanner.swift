/// Walks over JSON text by the rules of RFC 8259 without building anything.
///
/// The bytes are handed to each call, so that a walk borrows them and copies none.
struct JSONScanner {
    /// The next byte to look at.
    var position = 0
    private var depth = 0

    init(at position: Int = 0) { self.position = position }

    /// Passes one value, its names and strings checked, and the white space before it.
    mutating func skipValue(_ bytes: Span<UInt8>) throws(JSONError) {
        skipSpace(bytes)
        switch try peek(bytes) {
        case UInt8(ascii: "{"): try skipObject(bytes)
        case UInt8(ascii: "["): try skipArray(bytes)
        case UInt8(ascii: "\""): try skipString(bytes)
        case UInt8(ascii: "t"): try skipWord("true", bytes)
        case UInt8(ascii: "f"): try skipWord("false", bytes)
        case UInt8(ascii: "n"): try skipWord("null", bytes)
        default: try skipNumber(bytes)
        }
    }

    /// Passes white space.
    mutating func skipSpace(_ bytes: Span<UInt8>) {
        while position < bytes.count {
            switch bytes[position] {
            case 0x20, 0x09, 0x0A, 0x0D: position += 1
            default: return
            }
        }
    }

    /// The byte at the position, which is not passed.
    func peek(_ bytes: Span<UInt8>) throws(JSONError) -> UInt8 {
        guard position < bytes.count else { throw JSONError(.unexpectedEnd, at: position) }
        return bytes[position]
    }

    /// Passes this byte after white space; false when another one is there.
    mutating func take(_ byte: UInt8, _ bytes: Span<UInt8>) throws(JSONError) -> Bool {
        skipSpace(bytes)
        guard try peek(bytes) == byte else { return false }
        position += 1
        return true
    }

    /// Passes this byte after white space or fails.
    mutating func expect(_ byte: UInt8, _ bytes: Span<UInt8>) throws(JSONError) {
        guard try take(byte, bytes) else {
            throw JSONError(.unexpectedByte(bytes[position]), at: position)
        }
    }

    /// Fails unless only white space is left.
    mutating func expectEnd(_ bytes: Span<UInt8>) throws(JSONError) {
        skipSpace(bytes)
        if position < bytes.count { throw JSONError(.trailingBytes, at: position) }
    }

    /// Goes one level deeper or fails.
    mutating func enter() throws(JSONError) {
        depth += 1
        if depth > Limits.jsonDepth {
            throw JSONError(.tooDeep(limit: Limits.jsonDepth), at: position)
        }
    }

    /// Comes one level up.
    mutating func leave() { depth -= 1 }

    private mutating func skipObject(_ bytes: Span<UInt8>) throws(JSONError) {
        try enter()
        position += 1
        if try !take(UInt8(ascii: "}"), bytes) {
            repeat {
                skipSpace(bytes)
                try skipString(bytes)
                try expect(UInt8(ascii: ":"), bytes)
                try skipValue(bytes)
            } while try take(UInt8(ascii: ","), bytes)
            try expect(UInt8(ascii: "}"), bytes)
        }
        leave()
    }

    private mutating func skipArray(_ bytes: Span<UInt8>) throws(JSONError) {
        try enter()
        position += 1
        if try !take(UInt8(ascii: "]"), bytes) {
            repeat { try skipValue(bytes) } while try take(UInt8(ascii: ","), bytes)
            try expect(UInt8(ascii: "]"), bytes)
        }
        leave()
    }

    private mutating func skipWord(
        _ word: StaticString, _ bytes: Span<UInt8>
    ) throws(JSONError) {
        for wanted in word.description.utf8 {
            guard try peek(bytes) == wanted else {
                throw JSONError(.unexpectedByte(bytes[position]), at: position)
            }
            position += 1
        }
    }
}
