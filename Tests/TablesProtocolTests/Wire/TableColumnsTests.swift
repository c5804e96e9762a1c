import HTTPMessage
import HTTPTypes
import Testing

@testable import TablesProtocol

@Suite struct TableColumnsTests {
    static let columns = TableColumns(["a", "b", "ü\"n"])

    static let rows: [(columns: String, whole: String)] = [
        (#"{}"#, #","a":null,"b":null,"ü\"n":null"#),
        (#"{"a":1.10}"#, #","a":1.10,"b":null,"ü\"n":null"#),
        (
            #"{"b":[1,{"a":2,"x":","}],"a":"\"a\",b"}"#,
            #","b":[1,{"a":2,"x":","}],"a":"\"a\",b","ü\"n":null"#
        ),
        (#"{"ü\"n":null,"b":"\\","a":{}}"#, #","ü\"n":null,"b":"\\","a":{}"#),
    ]

    @Test(arguments: rows)
    func `a row has null in each missing column of its table`(
        columns: String, whole: String
    ) throws {
        var bytes = Array("x".utf8)
        try Columns(parsing: columns).appendMembers(to: &bytes)
        Self.columns.appendAbsent(after: 1, to: &bytes, in: .mobileApps)
        #expect(String(decoding: bytes, as: UTF8.self) == "x" + whole)
        var stored = Array("x".utf8)
        Columns(stored: columns).appendMembers(to: &stored)
        Self.columns.appendAbsent(after: 1, to: &stored, in: .mobileApps)
        #expect(stored == bytes)
    }

    @Test func `each of many columns is found among nested members of the same names`() throws {
        let names = (0..<70).map { "c\($0)" }
        let columns = TableColumns(names)
        for step in 1...7 {
            let present = stride(from: step - 1, to: names.count, by: step).map { names[$0] }
            let row = present.reversed().map { "\"\($0)\":{\"c1\":[{\"c2\":\"}\\\",\"}]}" }
            var bytes: [UInt8] = []
            let text = try Columns(parsing: "{\(row.joined(separator: ","))}")
            text.appendMembers(to: &bytes)
            columns.appendAbsent(after: 0, to: &bytes, in: .mobileApps)
            bytes[0] = UInt8(ascii: "{")
            bytes.append(UInt8(ascii: "}"))
            let whole = try Columns(parsing: bytes)
            #expect(whole.names == present.reversed() + names.filter { !present.contains($0) })
            #expect(whole.all.count { $0.value.isNull } == names.count - present.count)
        }
    }

    @Test func `a name with an escape counts as present`() {
        var bytes = Array(#","\u0061":1,"c":2"#.utf8)
        Self.columns.appendAbsent(after: 0, to: &bytes, in: .mobileApps)
        #expect(
            String(decoding: bytes, as: UTF8.self)
                == #","\u0061":1,"c":2,"b":null,"ü\"n":null"#)
    }

    @Test(arguments: ClientFamily.allCases)
    func `single items, pages and conflicts have null columns for the first and second generation`(
        client: ClientFamily
    ) throws {
        let item = Item(
            id: try ItemID("i"), columns: Columns(stored: #"{"a":1}"#), createdAt: nil,
            updatedAt: Instant(milliseconds: 0), version: "v")
        let answer = TablesAnswer(client: client).showing(TableColumns(["a", "b"]))
        for response in [
            answer.render(item: item), answer.render(inserted: item),
            answer.render(page: ItemPage(items: [item])),
            answer.render(error: .preconditionFailed(item)),
        ] {
            let text = String(decoding: response.bytes ?? [], as: UTF8.self)
            #expect(text.contains(#""a":1,"b":null"#) == (client.generation != .datasync))
        }
    }

    /// The names in an answer. Parsing refuses one that comes twice.
    private static func names(in response: Response) throws -> [String] {
        try Columns(parsing: response.bytes ?? []).names
    }

    /// The first answers are given before the table's columns are known.
    @Test(arguments: ClientFamily.allCases)
    func `no answer has a name twice before the columns of the table are known`(
        client: ClientFamily
    ) throws {
        let text = #"{"a":1,"createdAt":"x","version":"7","deleted":"no","__version":"8"}"#
        let item = Item(
            id: try ItemID("i"), columns: Columns(stored: text), createdAt: nil,
            updatedAt: Instant(milliseconds: 0), version: "v")
        let answer = TablesAnswer(client: client)
        for answer in [answer, answer.showing(nil)] {
            for response in [
                answer.render(item: item), answer.render(inserted: item),
                answer.render(error: .preconditionFailed(item)),
            ] {
                let own = try Self.names(in: response).filter {
                    SystemProperty(named: $0, in: client.generation) == nil
                }
                switch client.generation {
                case .mobileServices:
                    #expect(own == ["id", "a", "createdAt", "version", "deleted"])
                case .mobileApps: #expect(own == ["id", "a", "__version"])
                case .datasync: #expect(own == ["id", "a", "createdAt", "__version"])
                }
            }
        }
    }

    /// A user's columns with the names of system properties, from a store and from elsewhere.
    @Test(arguments: ClientFamily.allCases, [true, false])
    func `no answer has a name twice`(client: ClientFamily, isStored: Bool) throws {
        let text =
            #"{"a":1,"createdAt":"x","UpdatedAt":1,"version":"7","deleted":"no","__version":"8"}"#
        let columns = isStored ? Columns(stored: text) : try Columns(parsing: text)
        let item = Item(
            id: try ItemID("i"), columns: columns, createdAt: nil,
            updatedAt: Instant(milliseconds: 0), version: "v")
        let shared = ["b", "Deleted"]
        let answer = TablesAnswer(client: client).showing(
            TableColumns(shared, known: columns.names + shared))
        for response in [
            answer.render(item: item), answer.render(inserted: item),
            answer.render(error: .preconditionFailed(item)),
        ] {
            let names = try Self.names(in: response)
            let own = names.filter { SystemProperty(named: $0, in: client.generation) == nil }
            let lowered = names.map { $0.lowercased() }
            #expect(Set(lowered).count == lowered.count || client.generation == .mobileServices)
            switch client.generation {
            case .mobileServices:
                #expect(
                    own == [
                        "id", "a", "createdAt", "UpdatedAt", "version", "deleted", "b", "Deleted",
                    ])
            case .mobileApps: #expect(own == ["id", "a", "__version", "b"])
            case .datasync: #expect(own == ["id", "a", "createdAt", "__version"])
            }
        }
    }
}
