import TablesProtocol
import Testing

/// The functions and operators of OData v4, run by SQLite over rows with gaps, nulls and mixed types.
@Suite struct ODataFunctionTests {
    private func ids(
        _ database: ODataDatabase, _ filter: String, _ generation: Generation = .datasync
    ) throws -> String { try database.ids(filter, generation: generation).joined(separator: " ") }

    @Test(arguments: [
        ("date(due) eq 2024-01-02", "late noon"),
        ("date(due) eq cast(2024-01-02,Edm.Date)", "late noon"),
        ("date(due) gt 2024-01-02", ""), ("date(due) le 2024-01-02", "day late noon old"),
        ("date(due) eq '2024-01-02'", "late noon"),
        ("date(due) eq null", "clock missing null number text"),
        ("date(due) eq date(due)", "clock day late missing noon null number old text"),
        ("date(updatedAt) eq 1970-01-01", "clock day late missing noon null number old text"),
        ("time(due) eq 12:30:00.250", "noon"), ("time(due) le 12:30", "clock day late old"),
        ("time(due) eq 09:52:35.321", "clock"),
        ("time(due) eq time(due) and due ne null and time(due) ne null", "clock day late noon old"),
        ("fractionalseconds(due) eq 0.25", "noon"), ("fractionalseconds(due) eq 0.321", "clock"),
        ("fractionalseconds(due) gt 0", "clock noon"),
        ("fractionalseconds(due) eq null", "missing null number text"),
        ("totaloffsetminutes(due) eq 0", "day noon"), ("totaloffsetminutes(due) eq -300", "late"),
        ("totaloffsetminutes(due) eq 90", "old"),
        ("totaloffsetminutes(updatedAt) eq 0 and due eq 5", "number"),
        ("totaloffsetminutes(2024-01-01T00:00:00+01:00) eq 60 and due eq 5", "number"),
        ("due lt now()", "day old"), ("due lt mindatetime()", ""),
        ("due gt mindatetime() and due lt maxdatetime()", "day late noon old"),
        ("now() eq 2023-11-14T22:13:20.123Z and due eq 5", "number"),
        ("updatedAt lt now() and due eq 5", "number"),
        ("now() gt updatedAt and due eq 5", "number"),
        ("year(now()) eq 2023 and due eq 5", "number"),
        ("mindatetime() eq 0001-01-01T00:00:00Z and due eq 5", "number"),
        ("maxdatetime() eq 9999-12-31T23:59:59.9999999Z and due eq 5", "number"),
        ("year(date(due)) eq 2024", "late noon"), ("hour(time(due)) eq 12", "noon"),
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
        ("span eq duration'P1DT2H'", "a"), ("span gt duration'PT26H'", "b"),
        ("span ge duration'PT26H'", "a b"), ("span ne duration'P1DT2H'", "b d e missing"),
        ("span eq 'P1DT2H'", "a"), ("duration'-PT5M' eq span", "d"),
        ("totalseconds(span) eq 93600", "a"), ("totalseconds(span) eq -300", "d"),
        ("totalseconds(duration'PT0.5S') eq 0.5 and span eq null", "missing"),
        ("due add duration'P1D' eq 2024-01-03T00:00:00Z", "a"),
        ("due sub duration'PT1H' lt 2024-01-02", "a"), ("due add span eq 2024-01-03T02:00:00Z", ""),
        ("due sub 2024-01-01T00:00:00Z eq duration'P1D'", "a"),
        ("due lt now() add duration'P49D'", "a"), ("due lt now() add duration'P10D'", ""),
        ("now() sub due lt duration'PT0S'", "a"),
        ("date(due add duration'P1D') eq 2024-01-03", "a"),
        ("span eq duration'P1D' add duration'PT2H'", "a"),
        ("span eq duration'PT13H' mul 2", "a"), ("span eq duration'P2DT4H' div 2", "a"),
        ("span eq -(duration'PT5M')", "d"), ("cast(span,Edm.Duration) eq duration'PT26H'", "a"),
        ("span eq cast('PT26H',Edm.Duration)", "a"),
        ("cast(duration'PT26H' mul 1,Edm.String) eq span", "a"),
    ])
    func `durations`(filter: String, ids: String) throws {
        let database = try ODataDatabase([
            "a": #"{"span":"P1DT2H","due":"2024-01-02T00:00:00Z"}"#, "b": #"{"span":"P2D"}"#,
            "d": #"{"span":"-PT5M"}"#, "e": #"{"span":5}"#, "missing": "{}",
        ])
        #expect(try self.ids(database, filter) == ids)
    }

    @Test(arguments: [
        ("tags/any()", "mixed two x"), ("not tags/any()", "empty missing null object text"),
        ("tags/any(t: t eq 'x')", "mixed two x"), ("tags/any(t: t ne 'x')", "mixed two"),
        ("tags/all(t: t eq 'x')", "empty missing null object text x"),
        ("not tags/all(t: t eq 'x')", "mixed two"), ("tags/any(t: t eq 1)", "mixed"),
        ("tags/any(t: t eq true)", "mixed"), ("tags/any(t: t eq null)", "mixed"),
        ("tags/any(t: t gt 'x')", "two"), ("tags/any(t: t in ('y','q'))", "two"),
        ("tags/any(t: startswith(t,'y'))", "two"), ("tags/any(t: t)", "mixed"),
        ("tags/any(t: length(t) eq 1 and t ne 'x')", "two"),
        ("tags/any(t: t eq 'y' or t eq 1) and n eq 2", "two"),
        ("tags/any(t: t eq id)", "x"), ("tags/any(t: t eq $it/id)", "x"),
        ("tags/any(t: t eq n)", "mixed"), ("tags/$count eq 2", "two"),
        ("tags/$count eq 0", "empty missing null object text"), ("tags/$count gt 2", "mixed"),
        ("o/tags/any(t: t gt 2)", "object"), ("nosuch/any(t: t eq 1)", ""),
        ("nosuch/all(t: t eq 1)", "empty missing mixed null object text two x"),
        ("tags/any(t: t/price gt 1)", "mixed"), ("tags/any(t: t/price lt 1)", ""),
        ("tags/any(t: t/k/any(k: k eq 2))", "mixed"),
        ("tags/any(t: t/k/all(k: k lt t/price))", "mixed two x"),
        ("tags/any(t: t/k/$count eq 2)", "mixed"),
        ("tags/any(t: t eq 'a\u{0}b')", "mixed"), ("tags/any(t: t eq 'a')", ""),
        ("tags/any(t: t/k/any(k: k eq t/price))", ""),
        ("tags/any(t: isof(t,Edm.Int32) and t eq 1)", "mixed"),
    ])
    func `elements of arrays`(filter: String, ids: String) throws {
        let database = try ODataDatabase([
            "x": #"{"tags":["x"]}"#, "two": #"{"tags":["x","y"],"n":2}"#,
            "mixed": #"{"tags":["x",1,true,null,"a\u0000b",{"price":3,"k":[1,2]}],"n":1}"#,
            "empty": #"{"tags":[]}"#, "text": #"{"tags":"x"}"#, "null": #"{"tags":null}"#,
            "object": #"{"tags":{"a":"x"},"o":{"tags":[1,2,3]}}"#, "missing": "{}",
        ])
        #expect(try self.ids(database, filter) == ids)
    }

    @Test(arguments: [
        ("f has 2", "six three"), ("f has 6", "six"), ("f has 0", "five six three"),
        ("not (f has 2)", "five"), ("f has Ns.Color'Red'", "red rg"),
        ("f has 'Green, Red'", "rg"), ("f has 'R'", ""), ("not (f has 'Red')", "five6"),
        ("f has null", ""), ("f has f", "five five6 red rg six three"),
        ("n divby 2 eq 2.5", "five"),
        ("n divby 0 eq null", "five five6 missing null red rg six three true"),
        ("n div 2 eq 2", "five"), ("5 divby n eq 1", "five"),
        ("cast(n,Edm.String) eq '5'", "five"), ("cast(f,Edm.String) eq 'true'", "true"),
        ("cast(f,Edm.Int32) eq 6", "five6 six"), ("cast(f,Edm.Byte) eq 300", ""),
        ("cast(r,Edm.Int64) eq 2", "five"), ("cast(r,Edm.Int32) eq -2", "six"),
        ("cast(r,Edm.Double) eq 2.75", "five"), ("cast(r,Edm.Decimal) eq 1.5", "red"),
        ("cast(r,Edm.Byte) lt 0", ""), ("cast(b,Edm.Boolean)", "five red"),
        ("cast(b,Edm.Boolean) eq false", "six"), ("not cast(b,Edm.Boolean)", "six"),
        ("cast(d,Edm.DateTimeOffset) eq 2024-01-02T00:00:00Z", "five"),
        ("cast(d,Edm.Date) eq 2024-01-02", "five six"),
        ("cast(d,Edm.TimeOfDay) eq 10:00", "six"),
        ("cast(g,Edm.Guid) eq 0f8fad5b-d9cb-469f-a165-70867728950e", "five"),
        ("cast(g,Edm.Guid) eq null and g ne null", "six"),
        ("cast(updatedAt,Edm.String) eq '1970-01-01T00:00:01.000Z'", "five"),
        ("cast(deleted,Edm.String) eq 'true'", "six"), ("cast(id,Edm.String) eq 'six'", "six"),
        ("cast(5,Edm.String) eq cast(n,Edm.String)", "five"),
        ("isof(f,Edm.String)", "five6 red rg"), ("isof(f,Edm.Boolean)", "true"),
        ("isof(f,Edm.Int32)", "five six three"), ("isof(f,Edm.Byte)", "five six three"),
        ("isof(r,Edm.Int32)", ""), ("isof(r,Edm.Double)", "five six"),
        ("isof(d,Edm.Date)", "five"), ("isof(d,Edm.DateTimeOffset)", "six"),
        ("isof(g,Edm.Guid)", "five"), ("isof(updatedAt,Edm.DateTimeOffset) and n eq 5", "five"),
        ("isof(updatedAt,Edm.String)", ""),
        ("not isof(f,Edm.String)", "five missing null six three true"),
        ("isof(deleted,Edm.Boolean) and n eq 5", "five"),
        ("NOT(n eq 5)", "five6 missing null red rg six three true"),
    ])
    func `flags, casts and types`(filter: String, ids: String) throws {
        let database = try ODataDatabase([
            "five":
                #"{"f":5,"n":5,"r":2.75,"b":true,"d":"2024-01-02","g":"0F8FAD5B-d9cb-469f-a165-70867728950e"}"#,
            "six": #"{"f":6,"r":-2.75,"b":false,"d":"2024-01-02T10:00:00Z","g":"x"}"#,
            "three": #"{"f":3,"b":1}"#, "red": #"{"f":"Red","r":"1.5","b":"True"}"#,
            "rg": #"{"f":"Red, Green","r":"x"}"#, "five6": #"{"f":"6"}"#, "true": #"{"f":true}"#,
            "null": #"{"f":null}"#, "missing": "{}",
        ])
        #expect(try self.ids(database, filter) == ids)
    }

    @Test(arguments: [
        ("geo.distance(at,geography'POINT(-97 38)') lt 0.2", "here text"),
        ("geo.distance(at,geography'SRID=4326;POINT(-97 39)') lt 112", "here text"),
        ("geo.distance(at,geography'SRID=4326;POINT(-97 39)') lt 111", ""),
        (
            "geo.distance(geography'POINT(0 0)',geography'POINT(180 0)') gt 20015 and at eq null",
            "missing null"
        ),
        ("geo.distance(at,geometry'POINT(-97 42)') eq 4", "here text"),
        ("geo.distance(at,at) eq 0", "here text"), ("geo.distance(at,to) gt 0", "here"),
        ("geo.distance(at,to) ne null", "here"),
    ])
    func `geographic points`(filter: String, ids: String) throws {
        let database = try ODataDatabase([
            "here":
                #"{"at":{"type":"Point","coordinates":[-97,38]},"to":{"type":"Point","coordinates":[1,2,3]}}"#,
            "text": #"{"at":"POINT(-97 38)"}"#,
            "line": #"{"at":{"type":"LineString","coordinates":[[0,0],[1,1]]}}"#,
            "odd": #"{"at":{"type":"Point","coordinates":["a",1]}}"#, "number": #"{"at":5}"#,
            "null": #"{"at":null}"#, "missing": "{}",
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
