import TablesProtocol
import Testing

/// The functions and operators of OData v4, run by SQLite over rows with gaps, nulls and mixed types.
@Suite struct ODataFunctionTests {
    private func ids(
        _ database: ODataDatabase, _ filter: String, _ generation: Generation = .datasync
    ) throws -> String { try database.ids(filter, generation: generation).joined(separator: " ") }

    @Test(arguments: [
        ("due eq cast(09:52:35.321,Edm.TimeOfDay)", "clock"),
        ("due lt cast(09:52:35.322,Edm.TimeOfDay)", "clock"),
        ("due ge cast('09:53','Edm.TimeOfDay')", ""), ("due eq '09:52:35.321'", "clock"),
        ("due eq cast(2023-11-14,Edm.Date)", "day"), ("due lt cast(2023-11-14,Edm.Date)", "old"),
        ("year(due) eq 2024", "late noon"), ("day(due) eq 2", "late noon"),
        ("hour(due) eq 9", "clock"), ("minute(due) ge 30", "clock noon old"),
        ("second(due) eq 35", "clock"), ("hour(due) eq null", "missing null number text"),
        ("year(updatedAt) eq 1970 and due eq 5", "number"),
    ])
    func `parts of dates`(filter: String, ids: String) throws {
        let database = try ODataDatabase([
            "late": #"{"due":"2024-01-01T21:00:00-05:00"}"#,
            "noon": #"{"due":"2024-01-02T12:30:00.250Z"}"#, "day": #"{"due":"2023-11-14"}"#,
            "old": #"{"due":"1990-06-01T10:00:00+01:30"}"#, "clock": #"{"due":"09:52:35.321"}"#,
            "text": #"{"due":"soon"}"#, "number": #"{"due":5}"#, "null": #"{"due":null}"#,
            "missing": "{}",
        ])
        #expect(try self.ids(database, filter) == ids)
    }

    @Test(arguments: [
        ("tags/$count eq 2", "two"), ("tags/$count eq 0", "empty missing null object text"),
        ("tags/$count gt 2", "mixed"), ("o/tags/$count eq 3", "object"),
    ])
    func `numbers of elements`(filter: String, ids: String) throws {
        let database = try ODataDatabase([
            "two": #"{"tags":["x","y"]}"#, "mixed": #"{"tags":["x",1,true,null]}"#,
            "empty": #"{"tags":[]}"#, "text": #"{"tags":"x"}"#, "null": #"{"tags":null}"#,
            "object": #"{"tags":{"a":"x"},"o":{"tags":[1,2,3]}}"#, "missing": "{}",
        ])
        #expect(try self.ids(database, filter) == ids)
    }

    @Test(arguments: [
        ("n divby 2 eq 2.5", "five"), ("n divby 0 eq null", "five none six"),
        ("n div 2 eq 2", "five"), ("5 divby n eq 1", "five"), ("NOT(n eq 5)", "none six"),
        ("g eq cast(0f8fad5b-d9cb-469f-a165-70867728950e,Edm.Guid)", "five"),
        ("g ne cast('0f8fad5b-d9cb-469f-a165-70867728950e','Edm.Guid')", "none six"),
    ])
    func `divisions and GUIDs`(filter: String, ids: String) throws {
        let database = try ODataDatabase([
            "five": #"{"n":5,"g":"0F8FAD5B-d9cb-469f-a165-70867728950e"}"#,
            "six": #"{"n":6,"g":"x"}"#, "none": "{}",
        ])
        #expect(try self.ids(database, filter) == ids)
    }

    @Test(arguments: [
        ("s ne 'a'", "b n", "b missing n null"), ("'a' ne s", "b n", "b missing n null"),
        ("not (s eq 'a')", "b n", "b missing n null"), ("s eq 'a'", "a", "a"),
        ("s ne m", "a n", "a missing n"), ("s eq m", "b", "b null"),
        ("not (s eq m)", "a n", "a missing n"), ("not (s ne m)", "b", "b null"),
        ("s gt 'a'", "b", "b"), ("not (s gt 'a')", "a n", "a missing n null"),
        ("s ne null", "a b n", "a b n"), ("s eq null", "missing null", "missing null"),
        ("not (s in ('a'))", "b n", "b missing n null"),
        ("s in ('a',null)", "a missing null", "a missing null"),
        ("not (s in ('a',null))", "b n", "b n"), ("length(s) ne 5", "a b", "a b missing n null"),
        ("not startswith(s,'a')", "b", "b"), ("not done", "b", "b"), ("done", "a", "a"),
        ("not (done eq true)", "b", "b missing n null"), ("done ne true", "b", "b missing n null"),
        ("(s eq 'a') eq false", "b n", "b missing n null"),
        ("s ne 'a' and done eq null", "n", "missing n null"),
        ("due ne 2024-01-01T00:00:00Z", "b", "b missing n null"),
        ("s ne 'a' or done", "a b n", "a b missing n null"),
        ("deleted ne true", "a missing n null", "a missing n null"),
        ("updatedAt ne 1970-01-01T00:00:01Z", "b missing n null", "b missing n null"),
        ("s gt null", "", ""), ("not (s gt null)", "", "a b missing n null"),
    ])
    func `null follows the server of the client's generation`(
        filter: String, sql: String, csharp: String
    ) throws {
        let database = try ODataDatabase([
            "a": #"{"s":"a","m":"b","done":true,"due":"2024-01-01T00:00:00Z"}"#,
            "b": #"{"s":"b","m":"b","done":false,"due":"2024-01-02T00:00:00Z"}"#,
            "n": #"{"s":1,"m":"1"}"#, "null": #"{"s":null}"#, "missing": #"{"m":"x"}"#,
        ])
        #expect(try ids(database, filter, .mobileApps) == sql)
        let first = filter.replacing("updatedAt", with: "__updatedAt")
            .replacing("deleted", with: "__deleted")
        #expect(try ids(database, first, .mobileServices) == sql)
        #expect(try ids(database, filter, .datasync) == csharp)
    }
}
