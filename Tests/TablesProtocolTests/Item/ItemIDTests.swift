import Testing

@testable import TablesProtocol

@Suite struct ItemIDTests {
    @Test(arguments: [
        "a", "it's a % id", "#&;:|-_.", "...", "é😀", String(repeating: "x", count: 255), " ", "0",
        "C1\u{A0}", String(repeating: "é", count: 255),
    ])
    func `accepts`(text: String) throws {
        #expect(try ItemID(text).text == text)
    }

    @Test(arguments: [
        ("", ItemID.Refusal.empty), (".", .dots), ("..", .dots),
        (String(repeating: "x", count: 256), .tooLong(limitUnits: 255)),
        (String(repeating: "😀", count: 128), .tooLong(limitUnits: 255)),
        ("a\u{0}", .forbiddenCharacter("\u{0}")), ("\u{1F}", .forbiddenCharacter("\u{1F}")),
        ("\u{7F}", .forbiddenCharacter("\u{7F}")), ("\u{9F}", .forbiddenCharacter("\u{9F}")),
        ("a\"", .forbiddenCharacter("\"")), ("+", .forbiddenCharacter("+")),
        ("?", .forbiddenCharacter("?")), ("\\", .forbiddenCharacter("\\")),
        ("a/b", .forbiddenCharacter("/")), ("`", .forbiddenCharacter("`")),
    ])
    func `refuses`(text: String, refusal: ItemID.Refusal) {
        #expect(throws: refusal) { try ItemID(text) }
    }

    @Test func `is compared byte for byte`() throws {
        #expect(try ItemID("\u{E9}") != ItemID("e\u{301}"))
        #expect(try ItemID("a") != ItemID("A"))
        #expect(try ItemID("12") == ItemID(12))
        #expect(try Set([ItemID("\u{E9}"), ItemID("e\u{301}"), ItemID("\u{E9}")]).count == 2)
        #expect(ItemID(-7).number == -7)
    }

    @Test func `is made in the form of each generation`() throws {
        var random = SeededGenerator(seed: 1)
        let first = ItemID.make(generation: .mobileServices, random: &random).text
        let second = ItemID.make(generation: .mobileApps, random: &random).text
        let third = ItemID.make(generation: .datasync, random: &random).text
        #expect(try first.wholeMatch(of: Regex("[0-9A-F]{8}(-[0-9A-F]{4}){3}-[0-9A-F]{12}")) != nil)
        #expect(
            try second.wholeMatch(of: Regex("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")) != nil)
        #expect(
            try third.wholeMatch(of: Regex("[0-9a-f]{12}4[0-9a-f]{3}[89ab][0-9a-f]{15}")) != nil)
    }

    @Test func `table names differ in more than case`() throws {
        #expect(TableName("TodoItem") == TableName("todoitem"))
        #expect(TableName("TodoItem")?.text == "TodoItem")
        for text in ["", "1a", "a.b", "a b", "é", "a/b", String(repeating: "a", count: 129)] {
            #expect(TableName(text) == nil)
        }
        #expect(TableName("_a-1") != nil)
    }
}
