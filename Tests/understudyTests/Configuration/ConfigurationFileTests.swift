import TablesProtocol
import Testing

@testable import understudy

struct ConfigurationFileTests {
    @Test func `lines are names with values; comments and blank lines are ignored`() throws {
        let text =
            "# hello\n\n  listen =  127.0.0.1:9000 \r\ntable = a\ntable = b\nbackend=http://b/?\n"
        let file = try ConfigurationFile(path: "/c", text: text)
        #expect(file.lines.map(\.name) == ["listen", "table", "table", "backend"])
        #expect(file.lines.map(\.value) == ["127.0.0.1:9000", "a", "b", "http://b/?"])
        #expect(file.place(file.lines[1]) == "/c:4 table")
    }

    @Test(arguments: ["colour = red", "listen", "= 1", "[section]"])
    func `an invalid line is reported with its place and the valid names`(line: String) {
        let problem = #expect(throws: ConfigurationProblem.self) {
            try ConfigurationFile(path: "/c", text: "# first\n\(line)\n")
        }
        #expect(problem?.place == "/c:2")
        #expect(problem?.value == line)
        #expect(problem?.allowed.contains("allow-origin") == true)
    }

    @Test func `the environment wins over the file, a flag over both`() throws {
        let file = try ConfigurationFile(path: "/c", text: "sync = manual\ntable = a\ntable = b\n")
        let bare = Sources(flags: [:], environment: { _ in nil }, file: file)
        #expect(try bare.value(Settings.sync) == .manual)
        #expect(try bare.list(Settings.table).map(\.text) == ["a", "b"])
        let variable = Sources(
            flags: [:], environment: { $0 == "UNDERSTUDY_TABLE" ? "c" : nil }, file: file)
        #expect(try variable.list(Settings.table).map(\.text) == ["c"])
        let flag = Sources(
            flags: ["table": ["d"]], environment: { _ in "c" }, file: file)
        #expect(try flag.list(Settings.table).map(\.text) == ["d"])
    }

    @Test func `every example of the commented file is allowed`() {
        for setting in ServeSetting.all {
            #expect(setting.accepts(setting.example), "\(setting.name)")
        }
    }
}
