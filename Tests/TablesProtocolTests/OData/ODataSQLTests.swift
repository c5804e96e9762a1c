import TablesProtocol
import Testing

/// Compiled queries, run by SQLite over rows with nulls, gaps and mixed types.
@Suite struct ODataSQLTests {
    @Test(arguments: [
        ("n eq 1", "one text"), ("n ne 1", "true two"), ("n gt 0", "one text two"),
        ("n ge 1.5", "two"), ("n lt 3", "one text two"), ("n eq 2.5", "two"),
        ("n eq 1.0", "one text"), ("1 eq n", "one text"), ("2 gt n", "one text"),
        ("n eq '1'", "text"), ("n eq true", "one true"),
        ("n ne true", "text two"), ("n", "one true"), ("not n", "text two"),
        ("n eq null", "missing null"), ("n ne null", "one text true two"),
        ("null eq n", "missing null"), ("n gt null", ""), ("not (n eq 1)", "true two"),
        ("not (n gt 0)", "true"), ("n in (1,2.5)", "one text two"), ("n in (1,7)", "one text"),
        ("not (n in (1,7))", "true two"), ("n in ('1',null)", "missing null text"),
        ("n eq 1 or n eq null", "missing null one text"),
        ("null eq null", "missing null one text true two"),
        ("null ne null", ""), ("1 eq 1", "missing null one text true two"), ("nosuch eq 1", ""),
        ("nosuch ne 1", ""), ("nosuch eq null", "missing null one text true two"),
        ("n eq n", "one text true two"), ("n ne n", ""), ("n eq m", "two"), ("n ne m", "one text"),
        ("n gt 'a'", ""), ("n ge '1'", "text"),
    ])
    func `comparisons distinguish types and exclude null`(filter: String, ids: String) throws {
        let database = try ODataDatabase([
            "missing": #"{}"#, "null": #"{"n":null}"#, "one": #"{"n":1,"m":"1"}"#,
            "two": #"{"n":2.5,"m":2.50}"#, "true": #"{"n":true}"#, "text": #"{"n":"1","m":1}"#,
        ])
        let found = try database.ids(filter).joined(separator: " ")
        #expect(found == ids)
    }

    @Test(arguments: [
        ("complete eq true", "one t"), ("complete eq false", "f zero"),
        ("complete ne false", "one t"), ("complete", "one t"), ("not complete", "f zero"),
        ("complete eq (1 eq 1)", "t"),
        ("complete eq 1", "one"), ("complete gt 0", "one"), ("complete eq null", "null"),
        ("deleted", "f"), ("deleted eq false", "null one t zero"),
        ("deleted ne true", "null one t zero"),
        ("complete or deleted", "f one t"), ("not (complete and deleted)", "f null one t zero"),
        ("true eq startswith(s,'a')", "t"), ("startswith(s,'a') eq false", "f"),
    ])
    func `the constants true and false find 1 and 0, and a number finds no boolean`(
        filter: String, ids: String
    ) throws {
        let database = try ODataDatabase([
            "t": #"{"complete":true,"s":"abc"}"#, "f": #"{"complete":false,"s":"xyz"}"#,
            "one": #"{"complete":1}"#, "zero": #"{"complete":0}"#, "null": #"{"complete":null}"#,
        ])
        let found = try database.ids(filter).joined(separator: " ")
        #expect(found == ids)
    }

    @Test(arguments: [
        ("s eq 'abc'", "abc"), ("s eq 'ABC'", ""), ("tolower(s) eq 'straße'", "umlaut"),
        ("toupper(s) eq 'ABC'", "abc"), ("startswith(s,'50%')", "like"),
        ("endswith(s,'_x')", "like"),
        ("endswith(s,'')", "abc astral empty like nul space umlaut"),
        ("startswith(s,'')", "abc astral empty like nul space umlaut"),
        ("not startswith(s,'a')", "empty like space umlaut"),
        ("not endswith(s,'a')", "abc astral empty like nul space umlaut"),
        ("substringof('%',s)", "like"),
        ("contains(s,'')", "abc astral empty like nul space umlaut"),
        ("length(s) eq 0", "empty"), ("length(s) eq 4", "astral"), ("length(s) eq 3", "abc nul"),
        ("indexof(s,'b') eq 1", "abc"), ("indexof(s,'x') eq 3", "astral"),
        ("indexof(s,'q') eq -1", "abc astral empty like nul space umlaut"),
        ("substring(s,1) eq 'bc'", "abc"), ("substring(s,1,1) eq 'b'", "abc"),
        ("substring(s,-5,99) eq 'abc'", "abc"),
        ("substring(s,9) eq ''", "abc astral empty like nul space umlaut"),
        ("substring(s,3) eq 'x'", "astral"), ("trim(s) eq 'pad'", "space"),
        ("concat(concat(s,'-'),'z') eq 'abc-z'", "abc"), ("replace(s,'b','xx') eq 'axxc'", "abc"),
        ("replace(s,'','x') eq 'abc'", "abc"),
        ("s eq 'a\u{0}'", ""), ("s eq 'a\u{0}b'", "nul"), ("s eq 'a'", ""),
        ("s ne 'a'", "abc astral empty like nul space umlaut"),
        ("s in ('a','abc')", "abc"), ("contains(s,'\u{0}b')", "nul"),
        ("startswith(s,'a')", "abc astral nul"),
        ("endswith(s,'b')", "nul"), ("indexof(s,'b') eq 2", "nul"),
        ("concat(s,'c') eq 'a\u{0}bc'", "nul"),
        ("toupper(s) eq 'A\u{0}B'", "nul"), ("s ge 'abc' and s lt 'abd'", "abc"),
        ("length(n) eq 1", ""), ("startswith(n,'1')", ""), ("s eq X'00FF'", ""),
    ])
    func `texts are compared by UTF-16 unit`(filter: String, ids: String) throws {
        let database = try ODataDatabase([
            "abc": #"{"s":"abc"}"#, "umlaut": #"{"s":"STRASSE"}"#.replacing("SS", with: "ß"),
            "like": #"{"s":"50%_x"}"#, "empty": #"{"s":""}"#, "space": #"{"s":" \tpad\u00a0 "}"#,
            "astral": #"{"s":"a😀x"}"#, "nul": #"{"s":"a\u0000b"}"#, "none": #"{"s":null,"n":1}"#,
        ])
        let found = try database.ids(filter).joined(separator: " ")
        #expect(found == ids)
    }

    @Test(arguments: [
        ("n add 1 eq 8", "int"), ("n sub 0.5 eq 6.5", "int"), ("n mul 2 eq 14", "int"),
        ("n div 2 eq 3", "int"), ("n div 2.0 eq 3.5", "int"), ("n div 2 eq -1.25", "real"),
        ("n mod 4 eq 3", "int"), ("n mod 2 eq -0.5", "real"), ("n mod 0 eq null", "int real text"),
        ("n div 0 eq null", "int real text"), ("-n eq 2.5", "real"), ("(0 sub n) lt 0", "int"),
        ("round(n) eq -3", "real"), ("floor(n) eq -3", "real"), ("ceiling(n) eq -2", "real"),
        ("round(n) eq 7", "int"), ("n add 1 gt 0", "int"), ("n add n eq 14", "int"),
        ("n eq 0.1 add 6.9", "int"), ("n gt -9223372036854775808", "int real text"),
        ("n lt 99999999999999999999", "int real text"),
    ])
    func `arithmetic keeps whole numbers whole`(filter: String, ids: String) throws {
        let database = try ODataDatabase([
            "int": #"{"n":7}"#, "real": #"{"n":-2.5}"#, "text": #"{"n":"7"}"#,
        ])
        let found = try database.ids(filter).joined(separator: " ")
        #expect(found == ids)
    }

    @Test(arguments: [
        ("updatedAt gt datetimeoffset'1970-01-01T00:00:02.000Z'", "c"),
        ("updatedAt ge datetimeoffset'1970-01-01T00:00:02.000Z'", "b c"),
        ("updatedAt ge datetimeoffset'1970-01-01T00:00:01.9999999Z'", "b c"),
        ("updatedAt gt datetimeoffset'1970-01-01T00:00:01.9999999Z'", "b c"),
        ("updatedAt lt datetimeoffset'1970-01-01T00:00:02.0000001Z'", "a b"),
        ("updatedAt le datetimeoffset'1970-01-01T00:00:02.0000001Z'", "a b"),
        ("updatedAt gt datetimeoffset'1970-01-01T00:00:02.0000001Z'", "c"),
        ("updatedAt eq datetimeoffset'1970-01-01T02:00:02+02:00'", "b"),
        ("updatedAt eq datetimeoffset'1970-01-01T00:00:02.0000001Z'", ""),
        ("updatedAt ne datetimeoffset'1970-01-01T00:00:02.0000001Z'", "a b c"),
        ("updatedAt lt datetime'1970-01-01T00:00:02'", "a"), ("updatedAt ge 1970-01-01", "a b c"),
        ("updatedAt gt '1970-01-01T00:00:02Z'", "c"), ("updatedAt gt 'x'", ""),
        ("updatedAt eq 2000", ""),
        ("datetime'1970-01-01T00:00:02Z' lt updatedAt", "c"), ("updatedAt gt createdAt", "a b c"),
        ("updatedAt ne null", "a b c"), ("second(updatedAt) eq 3", "c"),
        ("updatedAt ge due", "b"), ("due lt updatedAt", ""),
        ("due eq datetime'1970-01-01T00:00:02Z'", "b"),
        ("due gt datetimeoffset'1970-01-01T00:00:02Z'", "a c"),
        ("due ne datetime'1970-01-01T00:00:02Z'", "a c"),
        ("due eq 2023-12-15", "c"), ("due eq '2023-12-15'", "c"), ("year(due) eq 2019", "a"),
        ("month(due) eq 12 and day(due) eq 31", "a"), ("hour(due) eq 23", "a"),
        ("minute(due) eq 30", "a"),
        ("second(due) eq 2", "b"), ("hour(at) eq 9", "a"), ("at eq 09:52:35.321", "a"),
        ("at gt 09:52", "a"), ("at gt cast(09:53,Edm.TimeOfDay)", ""), ("due eq 09:52", ""),
    ])
    func `dates are instants`(filter: String, ids: String) throws {
        let database = try ODataDatabase([
            "a": #"{"due":"2020-01-01T00:30:00+01:00","at":"09:52:35.321"}"#,
            "b": #"{"due":"1970-01-01T00:00:02.000Z"}"#, "c": #"{"due":"2023-12-15"}"#,
        ])
        let found = try database.ids(filter).joined(separator: " ")
        #expect(found == ids)
    }

    @Test(arguments: [
        ("id eq 'B'", "B"), ("id eq 'b'", ""), ("version eq 'djE='", "B a c"),
        ("version eq X'7631'", "B a c"),
        ("g eq guid'0F8FAD5B-D9CB-469F-A165-70867728950E'", "a"),
        ("g ne guid'0F8FAD5B-D9CB-469F-A165-70867728950E'", "B"),
        ("d eq X'00FF'", "a"), ("o/p eq 5", "a"), ("o/q eq null", "B a c"), ("id gt 'a'", "c"),
        ("version gt 5", ""), ("id in ('a','c')", "a c"),
    ])
    func `ids, versions, GUIDs, bytes and paths`(filter: String, ids: String) throws {
        let database = try ODataDatabase([
            "c": "{}", "a": #"{"g":"0f8fad5b-d9cb-469f-a165-70867728950e","d":"AP8=","o":{"p":5}}"#,
            "B": #"{"g":"x"}"#,
        ])
        let found = try database.ids(filter).joined(separator: " ")
        #expect(found == ids)
    }

    /// The order of instants, and where other values stand beside them.
    @Test func `an order by dates is that of their instants, in every form that filters read`()
        throws
    {
        let database = try ODataDatabase([
            "k": #"{"at":"2016-04-05T10:00:00-04:00"}"#,
            "l": #"{"at":"2016-04-05T14:00:00.0000001Z"}"#,
            "j": #"{"at":"2016-04-05T13:59:59.9999999+00:00"}"#,
            "i": #"{"at":"1969-12-31T23:59:59.5Z"}"#,
            "h": #"{"at":"0001-01-01T00:00:00Z"}"#, "n": #"{"at":"2016-10-30T02:30:00+02:00"}"#,
            "o": #"{"at":"2016-10-30 02:30+0100"}"#, "p": #"{"at":"9999-12-31T23:59:59.9999999Z"}"#,
            "m": #"{"at":"/Date(1459864800001)/"}"#, "a": "{}", "b": #"{"at":null}"#,
            "c": #"{"at":-5}"#, "d": #"{"at":true}"#, "e": #"{"at":7}"#, "f": #"{"at":""}"#,
            "g": #"{"at":"/Date(x)/"}"#, "q": #"{"at":"tomorrow"}"#,
            "k2": #"{"at":"2016-04-05t14:00:00.000z"}"#,
        ])
        let sorted = "a b c d e f g h i j k k2 l m n o p q"
        #expect(try database.ids(orderBy: "at").joined(separator: " ") == sorted)
        // Those that are equal stay in the order of their ids.
        #expect(
            try database.ids(orderBy: "at desc").joined(separator: " ")
                == "q p o n m l k k2 j i h g f e d c a b")
    }

    @Test func `whole-number ids compare and sort as numbers`() throws {
        let database = try ODataDatabase(["10": "{}", "9": "{}", "-1": "{}"], hasIntegerIDs: true)
        #expect(try database.ids() == ["-1", "9", "10"])
        #expect(try database.ids("id gt 8", orderBy: "id desc") == ["10", "9"])
        #expect(try database.ids("id gt '9'") == ["10"])
        #expect(try database.ids("id eq 9 or id eq '10'") == ["9", "10"])
        #expect(try database.ids("id add 1 eq 0") == ["-1"])
    }

    @Test(arguments: [
        ("n", "c b d a"), ("n desc", "a d b c"), ("text,n desc", "c b a d"), ("id desc", "d c b a"),
        ("1,id", "a b c d"), ("updatedAt desc", "d c b a"), ("length(text) desc", "d a b c"),
        ("n mul -1,id", "c a d b"), ("nosuch", "a b c d"), ("id,n", "a b c d"),
        ("(n gt 1)", "c b a d"),
    ])
    func `an order is total`(order: String, ids: String) throws {
        let database = try ODataDatabase([
            "a": #"{"n":3,"text":"x"}"#, "b": #"{"n":1,"text":"B"}"#, "c": #"{"n":null}"#,
            "d": #"{"n":2,"text":"xy"}"#,
        ])
        let found = try database.ids(orderBy: order).joined(separator: " ")
        #expect(found == ids)
    }

    @Test func `null stays null in every connective`() throws {
        let database = try ODataDatabase(["a": #"{"t":true,"f":false,"z":"\u0000"}"#])
        for (filter, expected) in [
            ("n", nil), ("not n", nil), ("n and t", nil), ("n and f", false), ("n or t", true),
            ("n or f", nil), ("n ne 1", nil), ("n ne 'x'", nil), ("n ne true", nil),
            ("n eq false", nil),
            ("n ne n", nil), ("n in (1,2)", nil), ("n in ('a')", nil), ("contains(n,'a')", nil),
            ("not contains(n,'a')", nil), ("n add 1 eq 1", nil), ("t eq 5", false),
            ("t eq 'x'", false),
            ("length(t) eq 4", nil), ("'a' eq 5", nil), ("tolower(z)", nil), ("z ne 'a'", true),
        ] as [(String, Bool?)] {
            #expect(try database.truth(filter, id: "a") == expected, "\(filter)")
        }
    }
}
