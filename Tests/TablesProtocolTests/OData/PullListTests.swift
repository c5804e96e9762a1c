import Testing

@testable import TablesProtocol

/// Which lists a client means as a pull.
@Suite struct PullListTests {
    private func query(_ text: String, _ generation: Generation) throws -> TableQuery {
        try TableQuery.parse(QueryParameter.split(text[...]), generation: generation)
    }

    @Test(arguments: [
        // Managed, iOS and Android: with and without a token, and a full pull.
        (
            "$filter=(updatedAt ge datetimeoffset'2026-01-01T00:00:00.0000000%2B00:00')"
                + "&$orderby=updatedAt&$skip=0&$top=50&__includeDeleted=true", Generation.mobileApps
        ),
        (
            "$filter=((complete eq false) and (__updatedAt ge datetimeoffset'2026-01-01T00:00:00.000Z'))"
                + "&$orderby=__updatedAt&$skip=0&$top=50&__includeDeleted=true"
                + "&__systemproperties=__version", .mobileServices
        ),
        ("$top=50&$orderby=updatedAt%20asc&__includeDeleted=true", .mobileApps),
        ("$skip=0&$top=50&__includeDeleted=true", .mobileApps),
        // Datasync: the first pull of the older SDK, then those with a token.
        ("$orderby=updatedAt&$count=true", .datasync),
        ("$orderby=updatedAt&$count=true&__includedeleted=true", .datasync),
        (
            "$filter=(updatedAt gt cast(2024-08-23T20:22:54.291Z,Edm.DateTimeOffset))"
                + "&$orderby=updatedAt&$count=true&__includedeleted=true", .datasync
        ),
    ])
    func `what the SDKs pull with`(text: String, generation: Generation) throws {
        #expect(try query(text, generation).isPull)
    }

    @Test(arguments: [
        // Further pages.
        "$orderby=updatedAt&$skip=50&$top=50&__includeDeleted=true",
        "$orderby=updatedAt&$count=true&__includedeleted=true&__after=2026-01-01T00:00:00Z",
        // Lists of a screen.
        "", "$top=50", "$orderby=updatedAt desc&$count=true", "$orderby=updatedAt",
        "$filter=complete eq false&$count=true", "__includeDeleted=false",
    ])
    func `what no pull begins with`(text: String) throws {
        #expect(try !query(text, .datasync).isPull)
    }
}
