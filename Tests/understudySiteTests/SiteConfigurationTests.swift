import ArgumentParser
import Platform
import Program
import Testing

@testable import understudy_site

@Suite struct SiteConfigurationTests {
    @Test(arguments: [
        "database = postgresql://u:secret@h/d\ndatabase = postgresql://u:secret@g/d",
        "database postgresql://u:secret@h/d", "databse = postgresql://u:secret@h/d",
    ])
    func `no problem shows a password`(text: String) {
        let problem = #expect(throws: ConfigurationProblems.self) {
            try ConfigurationFile(path: "/c", text: text, for: SiteFile.kind)
        }
        #expect(problem?.description.contains("(not shown)") == true)
        #expect(problem?.description.contains("secret") == false)
    }

    @Test func `every setting is a flag of its own name`() throws {
        let words = ServeSetting.ofSite.flatMap { setting in
            setting.allowed == BooleanText.allowed
                ? ["--\(setting.name)"] : ["--\(setting.name)", setting.about.example]
        }
        let run = try Run.parse(words)
        let flags = run.options.flags.merging(run.site.flags) { $1 }
        for setting in ServeSetting.ofSite {
            let said = setting.allowed == BooleanText.allowed ? "yes" : setting.about.example
            #expect(flags[setting.name] == [said], "\(setting.name)")
        }
        #expect(flags.count == ServeSetting.ofSite.count)
    }

    @Test func `every setting has a variable that is known`() {
        let names = ServeSetting.ofSite.map(\.variable)
        #expect(names.contains("UNDERSTUDY_ACCESS_FILE"))
        #expect(UnknownVariable.all(names + ["UNDERSTUDY_CONFIG"]) == [])
        #expect(UnknownVariable.all(["UNDERSTUDY_ACCES_FILE"]).count == 1)
    }
}
