import ArgumentParser
import Platform
import Proxy
import TablesProtocol
import Testing

@testable import Program
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
        let problems = #expect(throws: ConfigurationProblems.self) {
            try ConfigurationFile(path: "/c", text: "# first\n\(line)\n")
        }
        let problem = problems?.all.first
        #expect(problem?.place == "/c:2")
        #expect(problem?.value == line)
        #expect(problem?.allowed.contains("allow-origin") == true)
    }

    @Test(arguments: ["lisen = 1", "LISTEN = 1", "allow_host = box:1", "strict_sdk = yes"])
    func `a misspelt name is reported with the nearest`(line: String) {
        let problem = #expect(throws: ConfigurationProblems.self) {
            try ConfigurationFile(path: "/c", text: line)
        }
        let name =
            line.hasPrefix("a") ? "allow-host" : line.hasPrefix("s") ? "strict-sdk" : "listen"
        #expect(problem?.description.hasSuffix("perhaps \(name) is meant.") == true)
    }

    @Test func `a name that takes one value is an error on two lines`() {
        for text in ["sync = auto\n\nsync = manual\n", "sync=auto\ntable = a\nsync=auto"] {
            let problems = #expect(throws: ConfigurationProblems.self) {
                try ConfigurationFile(path: "/c", text: text)
            }
            let problem = problems?.all.first
            #expect(problem?.place == "/c:3 sync")
            #expect(problem?.allowed == "said once, and line 1 says \"auto\"")
        }
    }

    @Test func `a wrong address is named without its password`() throws {
        let file = try ConfigurationFile(
            path: "/c", text: "backend-proxy = http://ana:ge/heim@h:1\n")
        let sources = Sources(flags: [:], environment: { _ in nil }, file: file)
        let said = #"/c:1 backend-proxy is "http://(kept secret)@h:1""#
        #expect(sources.problems(of: ServeSetting.all).map(\.statement) == [said])
        let problem = #expect(throws: ConfigurationProblem.self) {
            try sources.value(Settings.backendProxy)
        }
        #expect(problem?.description.hasPrefix("\(said), but must be ") == true)
        let twice = #expect(throws: ConfigurationProblems.self) {
            try ConfigurationFile(
                path: "/c",
                text:
                    "backend-proxy = http://ana:geheim@h:1\nbackend-proxy = http://ana:geheim@h:2\n"
            )
        }
        #expect(
            twice?.description
                == #"/c:2 backend-proxy is "http://(kept secret)@h:2", but must be said once, and line 1 "#
                + #"says "http://(kept secret)@h:1"."#)
    }

    @Test func `all problems of a file are named at once, in the order of its lines`() {
        let text = """
            lisen = 1
            sync = never
            backend = https://a.example # mine
            table = todos
            sync = auto
            parallelism
            """
        let problems = #expect(throws: ConfigurationProblems.self) {
            try ConfigurationFile(path: "/c", text: text)
        }
        #expect(
            problems?.all.map(\.place) == [
                "/c:1", "/c:2 sync", "/c:3 backend", "/c:5 sync", "/c:6",
            ])
        #expect(
            problems?.description.split(separator: "\n").count == 5
                && problems?.all[2].description.hasSuffix("A comment needs a line of its own.")
                    == true
        )
    }

    @Test func `a wrong value alone is left to the sources, since a flag may win over it`() throws {
        let file = try ConfigurationFile(path: "/c", text: "sync = never\nparallelism = many\n")
        let sources = Sources(
            flags: ["sync": ["auto"]], environment: { _ in nil }, file: file)
        #expect(sources.problems(of: ServeSetting.all).map(\.place) == ["/c:2 parallelism"])
        let problem = #expect(throws: StartProblem.self) {
            try ServeConfiguration(
                Sources(flags: ["data": ["/d"]], environment: { _ in nil }, file: file),
                rebind: false)
        }
        #expect(problem?.sentence.split(separator: "\n").count == 2)
        #expect(problem?.exitCode == .usage)
    }

    @Test func `a file may begin with a byte order mark`() throws {
        let file = try ConfigurationFile(path: "/c", text: "\u{FEFF}sync = auto\n")
        #expect(file.lines.map(\.name) == ["sync"])
    }

    @Test
    func
        `a relative path of a file begins at the file's folder, and that of a flag at the working folder`()
        throws
    {
        let paths = ServeSetting.all.filter(\.about.isPath).map(\.name)
        #expect(
            paths == [
                "application-key-file", "backend-ca", "backend-cert", "backend-key", "socket",
                "data",
            ])
        for name in paths {
            let file = try ConfigurationFile(path: "/etc/u/u.conf", text: "\(name) = keys/a b\n")
            #expect(file.lines.map(\.value) == ["/etc/u/keys/a b"], "\(name)")
            let whole = try ConfigurationFile(path: "/etc/u/u.conf", text: "\(name) = /x\n")
            #expect(whole.lines.map(\.value) == ["/x"], "\(name)")
        }
        let flag = Sources(flags: ["backend-ca": ["ca.pem"]], environment: { _ in nil })
        #expect(
            try flag.value(Settings.backendCA) == Settings.absolute("ca.pem")
                && Settings.absolute("ca.pem").hasSuffix("/ca.pem"))
        // The others refuse a relative path.
        #expect(ServeSetting.named("backup-folder")?.accepts("x/y") == false)
    }

    @Test(arguments: Settings.removed.keys.sorted())
    func `a setting that is gone is refused with what to use in its place`(name: String) throws {
        let problems = try #require(throws: ConfigurationProblems.self) {
            _ = try ConfigurationFile(path: "/c", text: "\(name) = /etc/tell", for: ServeFile.kind)
        }
        let use = try #require(Settings.removed[name])
        #expect(
            problems.description
                == "/c:1 is \"\(name) = /etc/tell\", but must be left out: this setting is gone, "
                + "because \(use).")
        #expect(ServeSetting.named(name) == nil)
    }

    @Test func `every boolean is yes, no, true or false in every source`() throws {
        for setting in ServeSetting.all where setting.allowed == BooleanText.allowed {
            for text in ["yes", "no", "true", "false"] { #expect(setting.accepts(text)) }
            for text in ["", "1", "on", "Yes", "TRUE", " yes"] { #expect(!setting.accepts(text)) }
        }
        #expect(ServeSetting.all.count { $0.allowed == BooleanText.allowed } == 2)
        let file = try ConfigurationFile(
            path: "/c", text: "strict-sdk = yes\nallow-plain-http=true")
        let sources = Sources(
            flags: [:], environment: { $0 == "UNDERSTUDY_STRICT_SDK" ? "no" : nil }, file: file)
        #expect(try sources.value(Settings.strictSDK) == false)
        #expect(try sources.value(Settings.allowPlainHTTP) == true)
    }

    @Test func `the environment wins over the file, a flag over both`() throws {
        let file = try ConfigurationFile(path: "/c", text: "sync = manual\ntable = a\ntable = b\n")
        let bare = Sources(flags: [:], environment: { _ in nil }, file: file)
        #expect(try bare.value(Settings.sync) == .manual)
        #expect(try bare.list(Settings.table).map(\.name.text) == ["a", "b"])
        let variable = Sources(
            flags: [:], environment: { $0 == "UNDERSTUDY_TABLE" ? "c" : nil }, file: file)
        #expect(try variable.list(Settings.table).map(\.name.text) == ["c"])
        let flag = Sources(
            flags: ["table": ["d"]], environment: { _ in "c" }, file: file)
        #expect(try flag.list(Settings.table).map(\.name.text) == ["d"])
    }

    @Test func `every example of the commented file is allowed`() {
        for setting in ServeSetting.all {
            #expect(setting.accepts(setting.about.example), "\(setting.name)")
        }
    }

    @Test func `every setting is a flag of its own name`() throws {
        let words = ServeSetting.all.flatMap { setting in
            setting.allowed == BooleanText.allowed
                ? ["--\(setting.name)"] : ["--\(setting.name)", setting.about.example]
        }
        let serve = try Serve.parse(words)
        for setting in ServeSetting.all {
            let said = setting.allowed == BooleanText.allowed ? "yes" : setting.about.example
            #expect(serve.flags[setting.name] == [said], "\(setting.name)")
        }
        #expect(serve.flags.count == ServeSetting.all.count)
        #expect(try Serve.parse(["--no-strict-sdk"]).flags["strict-sdk"] == ["no"])
    }
}

extension ConfigurationFile {
    /// A file of `serve`.
    init(path: String, text: String) throws(ConfigurationProblems) {
        try self.init(path: path, text: text, for: ServeFile.kind)
    }
}
