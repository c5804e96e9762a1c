import TablesProtocol
import Testing

@testable import Backend
@testable import Site

/// Logins of a backend that verifies tokens.
@Suite struct VerifiedLoginTests {
    private func auth(_ token: String) -> [String: String] { ["X-ZUMO-AUTH": token] }

    @Test(arguments: BackendFlavour.allCases)
    func `a provider's token is exchanged for one of this site`(flavour: BackendFlavour) throws {
        let client = try SiteUnderTest.client(
            TableOptions(signedIn: Set(TableOptions.Operation.allCases)), flavour)
        for (path, body) in [
            ("/.auth/login/aad", #"{"access_token":"\#(try SiteUnderTest.token(.rsa))"}"#),
            ("/login/google", #"{"id_token":"\#(try SiteUnderTest.token(.curve))"}"#),
        ] {
            let answer = try client.send("POST", path, body)
            #expect(answer.status == 200, "\(answer.text)")
            #expect(answer.field("Cache-Control") == "no-store")
            let user = try #require(answer.json["user"]?["userId"]?.string)
            #expect(user == (path.hasSuffix("aad") ? "aad:ana" : "google:ana"))
            let token = try #require(answer.json["authenticationToken"]?.string)
            #expect(try SiteUnderTest.access().user(of: token, at: SiteUnderTest.now).id == user)
            let later = Instant(
                milliseconds: SiteUnderTest.now.milliseconds + 24 * 3_600_000 + 60_000)
            #expect(throws: TokenRefusal.expired) {
                try SiteUnderTest.access().user(of: token, at: later)
            }
            #expect(try client.send("GET", "/tables/todos", nil, auth(token)).status == 200)
            let refreshed = try client.send("GET", "/.auth/refresh", nil, auth(token))
            #expect(refreshed.json["user"]?["userId"]?.string == user)
            #expect(refreshed.json["authenticationToken"]?.string != token)
        }
    }

    @Test func `a login needs a good token of that provider`() throws {
        let client = try SiteUnderTest.client(TableOptions())
        let bodies: [(String, String?)] = [
            ("aad", nil), ("aad", "{}"), ("aad", #"{"access_token":"ana"}"#),
            ("aad", #"{"access_token":"\#(try SiteUnderTest.token(.curve))"}"#),
            ("aad", #"{"access_token":"\#(try SiteUnderTest.token(.own))"}"#),
            (
                "google",
                #"{"id_token":"\#(try SiteUnderTest.token(.curve, ["exp": .number(JSONNumber(1))]))"}"#
            ),
        ]
        for (provider, body) in bodies {
            let answer = try client.send("POST", "/.auth/login/\(provider)", body)
            #expect(answer.status == 401, "\(provider) \(answer.text)")
            #expect(!answer.text.contains("authenticationToken"))
        }
        let unknown = try client.send(
            "POST", "/.auth/login/facebook",
            #"{"access_token":"\#(try SiteUnderTest.token(.rsa))"}"#)
        #expect(unknown.status == 404)
        // A provider's token is not refreshed, only one of this site.
        let refreshed = try client.send(
            "GET", "/.auth/refresh", nil, auth(SiteUnderTest.token(.rsa)))
        #expect(refreshed.status == 401)
    }

    @Test func `me says who the user is`() throws {
        let client = try SiteUnderTest.client(TableOptions())
        let answer = try client.send("GET", "/.auth/me", nil, auth(SiteUnderTest.token(.rsa)))
        #expect(answer.status == 200)
        let me = try #require(answer.json.array?.first)
        #expect(me["user_id"]?.string == "aad:ana" && me["provider_name"]?.string == "aad")
        let claims = me["user_claims"]?.array ?? []
        #expect(claims.contains { $0["typ"]?.string == "sub" && $0["val"]?.string == "ana" })
        #expect(try client.send("GET", "/.auth/me").status == 401)
        #expect(try client.send("GET", "/.auth/me", nil, auth("x.y.z")).status == 401)
        #expect(try client.send("GET", "/.auth/logout").status == 302)
        #expect(try client.send("GET", "/.auth/other").status == 404)
    }
}
