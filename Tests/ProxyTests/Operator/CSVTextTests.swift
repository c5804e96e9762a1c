import TablesProtocol
import Testing

@testable import Proxy

struct CSVTextTests {
    private func line(_ json: String) throws -> String {
        let cells = try #require(try JSONValue(parsing: json).array)
        return String(decoding: CSVText.line(cells), as: UTF8.self)
    }

    @Test(arguments: [
        (#"["a",1,true,null,"é"]"#, "a,1,true,,é\r\n"),
        (
            #"["Buy \"milk\", eggs","two\nlines"," blank",""]"#,
            "\"Buy \"\"milk\"\", eggs\",\"two\nlines\",\" blank\",\r\n"
        ),
        (#"[{"b":[1,"x"]},[],1e400,0.10]"#, "\"{\"\"b\"\":[1,\"\"x\"\"]}\",[],1e400,0.10\r\n"),
        (#"[]"#, "\r\n"),
    ])
    func `cells are text, numbers as they are, and JSON`(json: String, text: String) throws {
        #expect(try line(json) == text)
    }

    @Test(arguments: [
        (#"["=1+1","+49 30","-1","@SUM(A1)"]"#, "'=1+1,'+49 30,'-1,'@SUM(A1)\r\n"),
        (#"["\t=1","\r=1","\n=1"]"#, "\"'\t=1\",\"'\r=1\",\"'\n=1\"\r\n"),
        // A negative number is no text.
        (#"[-1,-0.5e3]"#, "-1,-0.5e3\r\n"),
        // Elsewhere in a text the signs do nothing, but a separator of another country may not split it.
        (#"["1=1","a;=1","a\t=1"]"#, "1=1,\"a;=1\",\"a\t=1\"\r\n"),
        (#"["'=1","a＝1","<=1"]"#, "'=1,a＝1,<=1\r\n"),
        (#"["＝1","＋1","－1","＠a"]"#, "'＝1,'＋1,'－1,'＠a\r\n"),
        (
            #"[" =1","\u00a0=1","\u3000\u2003＝1","\ufeff-1","\u200b@a"," 1"]"#,
            "' =1,'\u{A0}=1,'\u{3000}\u{2003}＝1,'\u{FEFF}-1,'\u{200B}@a,\" 1\"\r\n"
        ),
    ])
    func `a text that a spreadsheet would run is escaped`(json: String, text: String) throws {
        #expect(try line(json) == text)
    }

    @Test func `a row has the columns that are asked for, in their order`() throws {
        let row = try JSONValue(parsing: #"{"a":1,"c":"=x","b":null,"é":2,"e\u0301":3}"#)
        let bytes = CSVText.line(of: row, ["a", "b", "c", "d", "e\u{301}", "\u{E9}"])
        #expect(String(decoding: bytes, as: UTF8.self) == "1,,'=x,,3,2\r\n")
    }
}
