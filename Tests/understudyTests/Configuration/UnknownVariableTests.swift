import Testing

@testable import Program
@testable import understudy

struct UnknownVariableTests {
    @Test func `a variable that no command reads is found, whatever its case`() {
        let names = [
            "HOME", "UNDERSTUDY_LISEN", "UNDERSTUDY_LISTEN", "understudy_x", "UNDERSTUDY_",
        ]
        #expect(UnknownVariable.all(names).map(\.name) == ["UNDERSTUDY_", "UNDERSTUDY_LISEN"])
    }

    @Test func `every setting has a variable that is known`() {
        let names = (ServeSetting.all + ServeSetting.ofBackend).map(\.variable)
        #expect(UnknownVariable.all(names + ["UNDERSTUDY_CONFIG"]) == [])
    }

    @Test(arguments: [
        ("UNDERSTUDY_LISEN", "UNDERSTUDY_LISTEN"), ("UNDERSTUDY_DATE", "UNDERSTUDY_DATA"),
        ("UNDERSTUDY_TABLES", "UNDERSTUDY_TABLE"), ("UNDERSTUDY_LOGLEVEL", "UNDERSTUDY_LOG_LEVEL"),
    ])
    func `a misspelt variable is named with the nearest`(name: String, near: String) {
        #expect(
            UnknownVariable.all([name]).first?.description
                == "The variable \(name) is not known, and changes nothing. Did you mean \(near)?")
    }

    @Test func `the variable of a setting that is gone is named with the reason`() {
        #expect(
            UnknownVariable.all(["UNDERSTUDY_REMEMBER_SIGN_IN"]).first?.description
                == "The variable UNDERSTUDY_REMEMBER_SIGN_IN is not known, and changes nothing. That "
                + "setting is gone, because each client sends its token with its requests.")
    }

    @Test func `a variable that is near to none is named with what to do`() throws {
        let text = try #require(
            UnknownVariable.all(["UNDERSTUDY_SERVICE_HOST"]).first
        ).description
        #expect(!text.contains("Did you mean") && text.contains("take the variable out"))
    }
}
