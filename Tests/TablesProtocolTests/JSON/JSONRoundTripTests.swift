import Testing

@testable import TablesProtocol

/// A generator that gives the same numbers for the same seed (SplitMix64).
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

@Suite struct JSONRoundTripTests {
    @Test func `any written value is read back`() throws {
        let seed = UInt64.random(in: 0 ... .max)
        print("JSON round trip: seed \(seed)")
        var random = SeededGenerator(seed: seed)
        for _ in 0..<2_000 {
            let value = Self.value(depth: 4, &random)
            let text = value.text
            #expect(try JSONValue(parsing: text) == value, "seed \(seed): \(text)")
            #expect(try JSONText(validating: " \(text)\n").text == text, "seed \(seed): \(text)")
            guard case .object(let members) = value else { continue }
            let columns = try Columns(parsing: text)
            #expect(columns.text == text, "seed \(seed): \(text)")
            #expect(columns.all.map(\.value.value) == members.map(\.value))
            #expect(Columns(stored: text).all == columns.all)
        }
    }

    @Test func `damaged text is never parsed as another value`() throws {
        let seed = UInt64.random(in: 0 ... .max)
        print("JSON damage: seed \(seed)")
        var random = SeededGenerator(seed: seed)
        for _ in 0..<2_000 {
            var bytes = Array(Self.value(depth: 3, &random).text.utf8)
            let index = Int.random(in: 0..<bytes.count, using: &random)
            bytes[index] = UInt8.random(in: 0...255, using: &random)
            // Scanner and parser agree on every text but one with a repeated name.
            let isText = (try? JSONText(validating: bytes)) != nil
            let isValue = (try? JSONValue(parsing: bytes, names: .mayRepeat)) != nil
            #expect(isText == isValue, "seed \(seed): \(bytes)")
        }
    }

    private static func value(depth: Int, _ random: inout SeededGenerator) -> JSONValue {
        switch Int.random(in: 0..<(depth > 0 ? 7 : 5), using: &random) {
        case 0: return .null
        case 1: return .bool(.random(using: &random))
        case 2: return JSONNumber(number(&random)).map(JSONValue.number) ?? .null
        case 3, 4: return .string(string(&random))
        case 5:
            let count = Int.random(in: 0..<4, using: &random)
            return .array((0..<count).map { _ in value(depth: depth - 1, &random) })
        default:
            let count = Int.random(in: 0..<5, using: &random)
            return .object(
                (0..<count).map {
                    JSONValue.Member(
                        string(&random) + String($0), value(depth: depth - 1, &random))
                })
        }
    }

    private static func number(_ random: inout SeededGenerator) -> String {
        var text = String(Int64.random(in: -1_000_000_000_000...(.max), using: &random))
        if .random(using: &random) { text += ".\(UInt32.random(in: 0 ... .max, using: &random))" }
        if .random(using: &random) { text += "e\(Int16.random(in: -400...400, using: &random))" }
        return text
    }

    private static func string(_ random: inout SeededGenerator) -> String {
        var text = ""
        for _ in 0..<Int.random(in: 0..<9, using: &random) {
            let ranges: [ClosedRange<UInt32>] = [
                0...0x1F, 0x20...0x7F, 0x80...0xD7FF, 0x1_0000...0x10_FFFF,
            ]
            let range = ranges[Int.random(in: 0..<4, using: &random)]
            let scalar = Unicode.Scalar(UInt32.random(in: range, using: &random))
            text.unicodeScalars.append(scalar ?? "?")
        }
        return text
    }
}
