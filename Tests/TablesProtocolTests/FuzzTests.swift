import Foundation
import HTTPMessage
import HTTPTypes
import Testing

@testable import TablesProtocol

/// Every parser against random inputs: a fixed number here, or `COUNT` inputs from the seed `SEED`
/// with `make fuzz`. No parser may crash, and a parsed value must survive writing and parsing again.
@Suite struct FuzzTests {
    /// Calls `body` with a generator for each seed; prints the seeds first.
    private func inputs(
        _ name: String, _ usual: Int, _ body: (inout FuzzSource, Comment) throws -> Void
    ) rethrows {
        let environment = ProcessInfo.processInfo.environment
        let first = environment["SEED"].flatMap(UInt64.init) ?? 1
        let count = environment["COUNT"].flatMap(Int.init) ?? usual
        print("fuzz \(name): SEED=\(first) COUNT=\(count)")
        for offset in 0..<count {
            var source = FuzzSource(seed: first &+ UInt64(offset))
            try body(&source, "\(name): SEED=\(first &+ UInt64(offset)) COUNT=1")
        }
    }

    @Test func json() throws {
        try inputs("JSON", 4_000) { (source, seed) throws in
            let pieces = [
                "{", "}", "[", "]", ",", ":", "\"", "\\", "\\u00", "\\ud83d\\ude00", "null",
                "true", "-", "0", "1.10", "1e400", "9007199254740993", "\"a\":", "\"id\"", " ",
                "\u{FEFF}", "é", "😀", "\u{0}",
            ]
            let bytes = source.damaged(source.text(pieces, upTo: 16))
            let value = try? JSONValue(parsing: bytes)
            let text = try? JSONText(validating: bytes)
            #expect(value == nil || text != nil, seed)
            if let value { #expect(try JSONValue(parsing: value.text) == value, seed) }
            if let columns = try? Columns(parsing: bytes) {
                #expect(Columns(stored: columns.text).all == columns.all, seed)
            }
            for generation in Generation.allCases {
                _ = try? ItemBody.parse(bytes, generation: generation)
                _ = try? ItemBody.parse(patch: bytes, generation: generation)
            }
        }
    }

    @Test func filters() throws {
        try inputs("OData", 4_000) { (source, seed) throws in
            let generation = source.pick(Generation.allCases)
            let pieces = [
                "text", "id", "__updatedAt", "updatedAt", "a/b", " eq ", " ne ", " and ", " or ",
                "not ", "(", ")", ",", "'", "'O''Neil'", "42L", "1.5M", "-1", "null", "true",
                "substringof(", "contains(", "length(", "year(", " add ", " mod ", " in (",
                "datetime'2013-01-01T00:00:00Z'", "cast(2013-01-01T00:00:00Z,Edm.DateTimeOffset)",
                "guid'0f8fad5b-d9cb-469f-a165-70867728950e'", "X'FF'", "é", " ", "%",
            ]
            let text = source.text(pieces, upTo: 14)
            guard let tree = try? Expression(parsing: text, generation: generation) else { return }
            let dialect = Dialect(generation)
            guard let printed = try? tree.text(dialect: dialect, names: generation) else { return }
            // A literal may change to the dialect's form once, and is stable afterwards.
            let again = try? Expression(parsing: printed, generation: generation)
            let twice = try? again?.text(dialect: dialect, names: generation)
            #expect(twice == printed, "\(seed): \(text) became \(printed)")
        }
    }

    @Test func trees() throws {
        try inputs("OData trees", 7_000) { (source, seed) throws in
            let names = source.pick(Generation.allCases)
            var random = ODataRandom(seed: source.next())
            let tree = random.tree(Dialect(names), names, depth: 6)
            let text = try tree.text(dialect: Dialect(names), names: names)
            #expect(try Expression(parsing: text, generation: names) == tree, "\(seed): \(text)")
        }
    }

    @Test func queries() throws {
        try inputs("query", 4_000) { (source, seed) throws in
            let pieces = [
                "$filter=", "%24top=", "$top=5", "$skip=-1", "$orderby=a desc", "$select=id,a",
                "$inlinecount=allpages", "$count=true", "__includeDeleted=true",
                "__systemproperties=*", "&", "?", "=", "+", "%2B", "%", "%zz", "%00", "%C3%A9",
                "a=b", "'", " ", "é", "#",
            ]
            let query = source.text(pieces, upTo: 12)
            let target = "/tables/t?\(query)"
            guard let pairs = try? QueryParameter.split(query[...]) else { return }
            #expect(try QueryParameter.split(pairs.map(\.raw).joined(separator: "&")[...]) == pairs)
            for client in ClientFamily.allCases {
                let call = try? WireSample.call(.get, target, WireSample.fields(client))
                guard let call, case .list(let list) = call.verb else { continue }
                // A query sent to a backend keeps its meaning.
                guard let text = try? list.text(for: call.generation) else { continue }
                let again = try? TableQuery.parse(
                    QueryParameter.split(text[...]), generation: call.generation,
                    keepsBeyond: true)
                let twice = try? again?.text(for: call.generation)
                #expect(twice == text, "\(seed): \(query) became \(text)")
            }
        }
    }

    @Test func tags() throws {
        try inputs("ETag and If-Match", 4_000) { (source, seed) throws in
            let pieces = ["\"", "\\", "\\\"", "W/", "*", ",", " ", "a", "AAAAAAAAB9E=", "é", "\t"]
            let version = source.text(pieces.filter { $0 != "\\" && $0 != "\\\"" }, upTo: 6)
            #expect(ETag.unquote(ETag.quote(version)) == version, seed)
            for generation in Generation.allCases {
                let quoted = IfMatch.parse(ETag.quote(version), generation: generation)
                #expect(quoted == .versions([version]), seed)
                let field = source.text(pieces, upTo: 8)
                if case .versions(let versions) = IfMatch.parse(field, generation: generation) {
                    #expect(generation == .datasync || versions.count < 2, seed)
                }
            }
        }
    }

    @Test func instants() {
        var (damaged, read) = (0, 0)
        inputs("instants", 4_000) { source, seed in
            let instant = Instant(ticks: Int64(source.next() % 3_155_378_975_999_999_999))
            let text = instant.text
            #expect(Instant(iso: text)?.text == text, seed)
            // The same moment by a clock that is ahead.
            let minutes = Int64(source.next() % (14 * 60))
            let ahead = Instant(milliseconds: instant.milliseconds + minutes * 60_000)
            let offset = String(format: "+%02d:%02d", Int(minutes / 60), Int(minutes % 60))
            if ahead.text.hasPrefix(text.prefix(3)) {
                #expect(Instant(iso: ahead.text.dropLast() + offset)?.text == text, seed)
            }
            // Times of Mobile Services.
            let date = "/Date(\(instant.milliseconds))/"
            #expect(Instant(parsing: date)?.text == text, "\(seed): \(date)")
            // What is damaged is no time, or one that is read again as itself.
            for whole in [text, String(ahead.text.dropLast()) + offset, date] {
                guard let noise = String(validating: source.damaged(whole), as: UTF8.self),
                    noise != whole
                else { continue }
                damaged += 1
                for found in [Instant(iso: noise), Instant(parsing: noise)] {
                    guard let found else { continue }
                    read += 1
                    #expect(Instant(iso: found.text)?.text == found.text, "\(seed): \(noise)")
                }
            }
        }
        // Most of the damaged texts are nearly a time, and a good part of them is one.
        if damaged > 1_000 { #expect(read * 50 > damaged, "\(read) of \(damaged)") }
    }

    @Test func paths() throws {
        try inputs("paths", 4_000) { (source, seed) throws in
            let pieces = [
                "/", "tables", "/tables/t", "/tables/t/", "%2F", "%00", "%", "%zz", "..", ".", "a",
                "é", "%C3%A9", "%2525", "+", "?", "#", "\\", "TodoItem",
            ]
            let path = source.text(pieces, upTo: 8)
            if let found = try? TablePath(path[...]), let id = found.id {
                let encoded = "/tables/\(found.table.text)/\(PercentCoding.encode(id.text))"
                #expect(try TablePath(encoded[...]).id == id, "\(seed): \(path)")
            }
            let text = source.text(pieces, upTo: 4)
            #expect(PercentCoding.decode(PercentCoding.encode(text)[...]) == text, seed)
        }
    }
}

/// Random numbers of one seed, and inputs made of them.
struct FuzzSource: RandomNumberGenerator {
    private var numbers: SeededGenerator

    init(seed: UInt64) { numbers = SeededGenerator(seed: seed) }

    mutating func next() -> UInt64 { numbers.next() }

    mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[Int.random(in: 0..<elements.count, using: &numbers)]
    }

    /// A text of random pieces.
    mutating func text(_ pieces: [String], upTo count: Int) -> String {
        var text = ""
        for _ in 0..<Int.random(in: 0...count, using: &numbers) { text += pick(pieces) }
        return text
    }

    /// The bytes of a text; in half of the cases one byte is changed.
    mutating func damaged(_ text: String) -> [UInt8] {
        var bytes = Array(text.utf8)
        if !bytes.isEmpty, Bool.random(using: &numbers) {
            let index = Int.random(in: 0..<bytes.count, using: &numbers)
            bytes[index] = UInt8.random(in: 0...255, using: &numbers)
        }
        return bytes
    }
}
