import Testing

@testable import TablesProtocol

/// The cost of query functions, and the limit on the texts that they make.
struct FunctionWorkTests {
    private func call(_ name: String, _ arguments: SQLValue...) throws -> SQLFunction.Call {
        let function = try #require(
            SQLFunction.all.first {
                $0.name == "odata_\(name)" && $0.argumentCount == arguments.count
            })
        return function.call(arguments)
    }

    private func text(_ count: Int) -> SQLValue { .text(String(repeating: "a", count: count)) }

    @Test func `a call costs fixed steps plus steps for the bytes that it reads and writes`() throws
    {
        #expect(try call("tolower", text(400)) == .init(value: text(400), steps: 16 + 800 / 4))
        #expect(try call("length", text(400)) == .init(value: .integer(400), steps: 16 + 400 / 4))
        #expect(try call("length", .null) == .init(value: .null, steps: 16))
        #expect(
            try call("replace", text(100), .text("a"), .text("bb"))
                == .init(
                    value: .text(String(repeating: "b", count: 200)), steps: 16 + 303 / 4))
    }

    @Test func `a function makes no text over the limit, except an argument over it`() throws {
        let limit = Limits.computedTextBytes
        #expect(try call("concat", text(limit - 1), text(1)).value == text(limit))
        #expect(try call("concat", text(limit), text(1)).value == .null)
        #expect(try call("replace", text(limit / 2), .text("a"), .text("aa")).value == text(limit))
        #expect(try call("replace", text(limit / 2 + 1), .text("a"), .text("aa")).value == .null)
        #expect(
            try call("replace", text(2 * limit), .text("b"), .text("")).value == text(2 * limit))
        #expect(try call("replace", text(2 * limit), .text("aa"), .text("aaa")).value == .null)
    }

    @Test func `text search equals a search at every position`() {
        var random = SystemRandomNumberGenerator()
        func word(_ count: Int) -> [UInt8] {
            (0..<count).map { _ in random.next() % 2 == 0 ? 0 : 1 }
        }
        for _ in 0..<2000 {
            let (part, text) = (word(Int.random(in: 0...5)), word(Int.random(in: 0...24)))
            let start = Int.random(in: 0...text.count)
            let expected = (start...text.count).first { text[$0...].starts(with: part) }
            #expect(
                SubstringSearch(part).first(in: text, from: start) == expected, "\(part) \(text)")
        }
    }

    @Test func `text search is linear for near matches`() {
        // 2^18 times 2^14 comparisons would take minutes.
        let text = [UInt8](repeating: 0x61, count: 1 << 18)
        let part = [UInt8](repeating: 0x61, count: 1 << 14) + [0x62]
        #expect(SubstringSearch(part).first(in: text) == nil)
    }

    @Test(arguments: ["contains", "startswith", "endswith"])
    func `long texts are found like short ones`(function: String) throws {
        let part = String(repeating: "pq", count: Limits.nativeSearchBytes)
        let database = try ODataDatabase([
            "is": #"{"s":"\#(part)"}"#, "begins": #"{"s":"\#(part)x"}"#,
            "ends": #"{"s":"x\#(part)"}"#, "has": #"{"s":"x\#(part)x"}"#,
            "nul": #"{"s":"\u0000\#(part)"}"#, "short": #"{"s":"pq"}"#, "null": #"{"s":null}"#,
            "number": #"{"s":1}"#,
        ])
        let expected = [
            "contains": ["begins", "ends", "has", "is", "nul"], "startswith": ["begins", "is"],
            "endswith": ["ends", "is", "nul"],
        ]
        #expect(
            try database.ids("\(function)(s,'\(part)')", generation: .datasync)
                == expected[function])
    }

    @Test func `empty pairs of a query count`() throws {
        let most = String(repeating: "&", count: Limits.queryParameters - 1)
        #expect(try QueryParameter.split(most[...]) == [])
        #expect(throws: ODataError.self) { try QueryParameter.split((most + "&")[...]) }
    }
}
