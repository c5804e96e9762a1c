import Testing

@testable import understudy

struct UnknownVariableTests {
    @Test func `a variable that no command reads is found, whatever its case`() {
        let names = [
            "HOME", "UNDERSTUDY_LISEN", "UNDERSTUDY_LISTEN", "understudy_x", "UNDERSTUDY_",
        ]
        #expect(UnknownVariable.all(names).map(\.name) == ["UNDERSTUDY_", "UNDERSTUDY_LISEN"])
    }

    @Test func `every setting has a variable that is known`() {
        let names = ConfigurationKind.allCases.flatMap { $0.settings.map(\.variable) }
        #expect(names.contains("UNDERSTUDY_ACCESS_FILE"))
        #expect(UnknownVariable.all(names + ["UNDERSTUDY_CONFIG"]) == [])
    }

    @Test(arguments: [
        ("UNDERSTUDY_LISEN", "UNDERSTUDY_LISTEN"), ("UNDERSTUDY_DATE", "UNDERSTUDY_DATA"),
        ("UNDERSTUDY_TABLES", "UNDERSTUDY_TABLE"), ("UNDERSTUDY_LOGLEVEL", "UNDERSTUDY_LOG_LEVEL"),
    ])
    func `a misspelt variable is named with the nearest`(name: String, near: String) {
        #expect(
            UnknownVariable(name: name).description
                == "The variable \(name) is not known, and changes nothing. Did you mean \(near)?")
    }

    @Test func `a variable that is near to none is named with what to do`() {
        let text = UnknownVariable(name: "UNDERSTUDY_SERVICE_HOST").description
        #expect(!text.contains("Did you mean") && text.contains("take the variable out"))
    }
}
