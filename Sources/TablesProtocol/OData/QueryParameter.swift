import HTTPMessage

/// One `name=value` pair of a query string.
public struct QueryParameter: Sendable, Hashable {
    /// The decoded name.
    public let name: String
    /// The decoded value; empty if the pair has no `=`.
    public let value: String
    /// The pair as received, still encoded.
    public let raw: String

    public init(name: String, value: String, raw: String) {
        self.name = name
        self.value = value
        self.raw = raw
    }
}

extension QueryParameter {
    /// Splits the query of a target into decoded pairs, in order.
    ///
    /// 1. Split at `&`, and at a later `?` before an option outside quotes: the JavaScript SDK of the first
    ///    two generations writes `?$inlinecount=allpages?__includeDeleted=true`.
    /// 2. Split each pair at its first `=`.
    /// 3. In names and values, decode `+` as a space, then `%xx`, once. In a value, a `%` without two
    ///    hexadecimal digits is a percent sign, as on the real servers.
    ///
    /// - Throws: ``ODataError`` without an option, with a position in bytes of `rawQuery`, for a name with a
    ///   `%` without two hexadecimal digits, invalid UTF-8, and more than ``Limits/queryParameters`` pairs,
    ///   empty ones included.
    public static func split(_ rawQuery: Substring?) throws(ODataError) -> [QueryParameter] {
        guard let rawQuery else { return [] }
        let bytes = Array(rawQuery.utf8)
        var parameters: [QueryParameter] = []
        var start = 0
        var count = 0
        while start <= bytes.count {
            let end = pairEnd(in: bytes, from: start)
            count += 1
            guard count <= Limits.queryParameters else {
                throw ODataError(
                    option: "",
                    reason: "The query has more than \(Limits.queryParameters) parameters",
                    position: start)
            }
            if end > start { parameters.append(try pair(bytes, start..<end)) }
            start = end + 1
        }
        return parameters
    }

    /// The pairs of a query, split as ``split(_:)`` does, and decoded as servers do that refuse none: what
    /// cannot be decoded stays as it is. Empty ones are left out.
    package static func lenient(_ rawQuery: Substring) -> [QueryParameter] {
        let bytes = Array(rawQuery.utf8)
        var parameters: [QueryParameter] = []
        var start = 0
        while start < bytes.count {
            let end = pairEnd(in: bytes, from: start)
            if end > start {
                let raw = String(decoding: bytes[start..<end], as: UTF8.self)
                let parts = raw.split(
                    separator: "=", maxSplits: 1, omittingEmptySubsequences: false
                ).map { PercentCoding.decodeLeniently($0, plusIsSpace: true) }
                parameters.append(
                    QueryParameter(
                        name: parts[0], value: parts.count > 1 ? parts[1] : "", raw: raw))
            }
            start = end + 1
        }
        return parameters
    }

    private static func pairEnd(in bytes: [UInt8], from start: Int) -> Int {
        var isQuoted = false
        var index = start
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "&"):
                return index
            case UInt8(ascii: "'"):
                isQuoted.toggle()
            case UInt8(ascii: "%") where bytes[index...].starts(with: "%27".utf8):
                isQuoted.toggle()
            case UInt8(ascii: "?") where !isQuoted && startsOption(bytes[(index + 1)...]):
                return index
            default:
                break
            }
            index += 1
        }
        return bytes.count
    }

    private static func startsOption(_ rest: ArraySlice<UInt8>) -> Bool {
        rest.starts(with: "$".utf8) || rest.starts(with: "%24".utf8) || rest.starts(with: "__".utf8)
    }

    private static func pair(
        _ bytes: [UInt8], _ range: Range<Int>
    ) throws(ODataError) -> QueryParameter {
        let equals = bytes[range].firstIndex(of: UInt8(ascii: "=")) ?? range.upperBound
        let value = min(equals + 1, range.upperBound)..<range.upperBound
        return QueryParameter(
            name: try decodedName(bytes, range.lowerBound..<equals),
            value: try decodedValue(bytes, value),
            raw: String(decoding: bytes[range], as: UTF8.self))
    }

    /// Decodes a value with ``PercentCoding``, `+` as a space. An error has the position of its beginning.
    private static func decodedValue(
        _ bytes: [UInt8], _ range: Range<Int>
    ) throws(ODataError) -> String {
        let decoded = PercentCoding.decodeLeniently(bytes[range], plusIsSpace: true)
        guard let text = String(validating: decoded, as: UTF8.self) else {
            throw notUTF8(range)
        }
        return text
    }

    private static func notUTF8(_ range: Range<Int>) -> ODataError {
        ODataError(
            option: "", reason: "The query is not valid UTF-8", position: range.lowerBound)
    }

    /// Decodes a name with ``PercentCoding``, `+` as a space. An error has the position of the `%` without
    /// two digits, or for invalid UTF-8 that of the beginning of the name.
    private static func decodedName(
        _ bytes: [UInt8], _ range: Range<Int>
    ) throws(ODataError) -> String {
        let text = String(decoding: bytes[range], as: UTF8.self)
        if let decoded = PercentCoding.decode(text[...], plusIsSpace: true) { return decoded }
        let torn = range.first { index in
            bytes[index] == UInt8(ascii: "%")
                && Base16.decoded(
                    String(
                        decoding: bytes[index..<range.upperBound].dropFirst().prefix(2),
                        as: UTF8.self)
                )?.count != 1
        }
        guard let torn else { throw notUTF8(range) }
        throw ODataError(
            option: "", reason: "The query has a '%' without two hexadecimal digits", position: torn
        )
    }

    /// Encodes a value for a query string.
    ///
    /// Letters, digits and `-._~$'(),:/@!*` stay unencoded: the .NET server of generation 2 finds column
    /// names between unencoded parentheses and commas, and encoded spaces.
    public static func encoded(_ value: String) -> String {
        value.unicodeScalars.map { scalar in
            "$'(),:/@!*".unicodeScalars.contains(scalar)
                ? String(scalar) : PercentCoding.encode(String(scalar))
        }.joined()
    }
}
