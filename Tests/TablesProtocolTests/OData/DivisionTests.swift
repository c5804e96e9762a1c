import Testing

@testable import TablesProtocol

/// `div` of whole numbers.
@Suite struct DivisionTests {
    /// The ids of rows with 7, 7.0 and 6 that match a filter of the generation.
    private func ids(_ filter: String, _ generation: Generation) throws -> [String] {
        let database = try ODataDatabase([
            "int": #"{"n":7}"#, "real": #"{"n":7.0}"#, "six": #"{"n":6}"#,
        ])
        return try database.ids(filter, generation: generation)
    }

    @Test func `the first generation divides fractions, however a number is written`() throws {
        #expect(try ids("n div 2 eq 3.5", .mobileServices) == ["int", "real"])
        #expect(try ids("n div 2 eq 3", .mobileServices) == ["six"])
        #expect(try ids("(n div 2) mul 2 eq n", .mobileServices) == ["int", "real", "six"])
    }

    @Test(arguments: [Generation.mobileApps, .datasync])
    func `later generations give a whole number for whole numbers`(generation: Generation) throws {
        #expect(try ids("n div 2 eq 3.5", generation) == ["real"])
        #expect(try ids("n div 2 eq 3", generation) == ["int", "six"])
        #expect(try ids("n divby 2 eq 3.5", generation) == ["int", "real"])
    }

    @Test func `a division is written only for a backend that means the same`() throws {
        let first = try Expression(parsing: "n div 2 eq 3", generation: .mobileServices)
        #expect(try first.text(dialect: .v3, names: .mobileServices) == "(n div 2) eq 3")
        for other in [Generation.mobileApps, .datasync] {
            #expect(throws: ODataError.self) {
                try first.text(dialect: Dialect(other), names: other)
            }
            let later = try Expression(parsing: "n div 2 eq 3", generation: other)
            #expect(try later.text(dialect: Dialect(other), names: other) == "(n div 2) eq 3")
            let reason =
                "A backend of generation 1 has no operator 'div' of whole numbers; 'divby' is its "
                + "division"
            #expect(throws: ODataError(option: "$filter", reason: reason, position: 0)) {
                try later.text(dialect: .v3, names: .mobileServices)
            }
            let fraction = try Expression(parsing: "n divby 2 eq 3", generation: other)
            #expect(
                try fraction.text(dialect: .v3, names: .mobileServices) == "(n div 2) eq 3")
        }
    }
}
