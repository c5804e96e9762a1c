import Testing

@testable import Program
@testable import understudy

struct CommandSuggestionTests {
    @Test(arguments: [
        (["statsu"], "Did you mean 'understudy status'?"),
        (["conflict"], "Did you mean 'understudy conflicts'?"),
        (["tables", "lst"], "Did you mean 'understudy tables list'?"),
        (["queue", "discrad", "--all"], "Did you mean 'understudy queue discard'?"),
    ])
    func `a near name is suggested`(words: [String], sentence: String) {
        #expect(CommandSuggestion.sentence(words, in: Understudy.self) == sentence)
    }

    @Test(arguments: [
        ["weather"], ["status", "statsu"], ["--data", "statsu"], ["tables", "list"], [],
    ])
    func `nothing is suggested for another word, an option's value, or a right name`(
        words: [String]
    ) {
        #expect(CommandSuggestion.sentence(words, in: Understudy.self) == nil)
    }
}

struct CompletionTests {
    @Test func `the places of a command line are kept for a completion`() {
        let words = [
            "tables", "set", "--data", "/a b", "--read", "local", "--identity=x", "--config",
        ]
        #expect(CompletionPlaces.options(in: words) == ["--data", "/a b", "--identity=x"])
    }
}
