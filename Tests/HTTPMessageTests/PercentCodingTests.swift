import HTTPMessage
import Testing

struct PercentCodingTests {
    @Test(
        arguments: [
            ("plain", "plain"), ("", ""), ("a%20b", "a b"), ("a+b", "a+b"), ("%2B", "+"),
            ("%c3%BC", "ü"), ("ü%20", "ü "), ("%2520", "%20"), ("%00", "\u{0}"),
            ("%", nil), ("%2", nil), ("%zz", nil), ("a%2", nil), ("%C3", nil), ("%FF", nil),
        ] as [(Substring, String?)])
    func `an escape is decoded once, and a broken one gives nil`(
        text: Substring, decoded: String?
    ) {
        #expect(PercentCoding.decode(text) == decoded)
    }

    @Test(arguments: [("a+b", "a b"), ("a%2Bb+", "a+b "), ("+", " ")] as [(Substring, String)])
    func `in a query a plus is a space, unless it is escaped`(text: Substring, decoded: String) {
        #expect(PercentCoding.decode(text, plusIsSpace: true) == decoded)
    }

    @Test(arguments: ["%00", "a%00b", "a%20%00"] as [Substring])
    func `an escaped NUL gives nil where NUL is not allowed`(text: Substring) {
        #expect(PercentCoding.decode(text, allowsNUL: false) == nil)
        #expect(PercentCoding.decode(text) != nil)
    }

    @Test func `an escape with one digit 0 is no NUL`() {
        #expect(PercentCoding.decode("%20%0A%10", allowsNUL: false) == " \n\u{10}")
    }

    @Test(
        arguments: [
            ("a%20b", "a b", true), ("%25E9", "%E9", true), ("%C3%BC", "ü", true), ("", "", true),
            ("%", "%", false), ("%2", "%2", false), ("a%zz%41", "a%zzA", false),
            ("%%41", "%A", false),
        ] as [(Substring, String, Bool)])
    func `lenient decoding keeps broken escapes and other bytes`(
        text: Substring, decoded: String, isWellFormed: Bool
    ) {
        #expect(PercentCoding.decodeLeniently(text.utf8) == Array(decoded.utf8))
        #expect(PercentCoding.isWellFormed(text) == isWellFormed)
        #expect(PercentCoding.decodeLeniently("a%E9%00".utf8) == [0x61, 0xE9, 0])
    }

    @Test func `decoding reverses encoding, and only unreserved characters stay unencoded`() {
        let text = String(String.UnicodeScalarView((1..<0x250).compactMap(Unicode.Scalar.init)))
        let encoded = PercentCoding.encode(text)
        #expect(PercentCoding.decode(encoded[...]) == text)
        let unreserved = Set("-._~%".utf8)
        #expect(
            encoded.utf8.allSatisfy {
                unreserved.contains($0) || (0x30...0x39).contains($0) || (0x41...0x5A).contains($0)
                    || (0x61...0x7A).contains($0)
            })
        #expect(PercentCoding.encode("a b/ü") == "a%20b%2F%C3%BC")
    }

    @Test(
        arguments: [
            ("a%20b", "a b"), ("%", "%"), ("%2", "%2"), ("%zz%41", "%zzA"), ("a+b", "a+b"),
            ("%C3%BC%FF", "ü\u{FFFD}"), ("%%41", "%A"),
        ] as [(Substring, String)])
    func `lenient decoding keeps a percent sign without an escape`(text: Substring, decoded: String)
    {
        #expect(PercentCoding.decodeLeniently(text) == decoded)
        #expect(PercentCoding.decodeLeniently("+\(text)"[...], plusIsSpace: true).first == " ")
    }

    @Test func `an encoder leaves the given characters unencoded`() {
        #expect(PercentCoding.encode("a/b c:$", leaving: "/$") == "a/b%20c%3A$")
    }
}
