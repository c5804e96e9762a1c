import HTTPTypes
import TablesProtocol
import Testing

@testable import SyncCore

@Suite struct TokenFieldTests {
    private func fields(_ name: String, _ value: String, _ generation: Generation) throws
        -> [String]
    {
        let field = HTTPField(name: try #require(HTTPField.Name(name)), value: value)
        return field.token(for: generation).map { "\($0.name.rawName): \($0.value)" }
    }

    @Test(arguments: [
        (Generation.mobileServices, ["X-ZUMO-AUTH: t"], ["X-ZUMO-AUTH: t"]),
        (.mobileApps, ["X-ZUMO-AUTH: t"], ["X-ZUMO-AUTH: t"]),
        (.datasync, ["X-ZUMO-AUTH: t", "Authorization: Bearer t"], ["Authorization: Bearer  t"]),
    ])
    func `a token is sent in the header field of its generation`(
        generation: Generation, zumo: [String], bearer: [String]
    ) throws {
        #expect(try fields("X-ZUMO-AUTH", "t", generation) == zumo)
        #expect(try fields("Authorization", "Bearer  t", generation) == bearer)
    }
}
