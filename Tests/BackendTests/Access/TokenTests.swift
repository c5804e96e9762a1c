import Signatures
import TablesProtocol
import Testing

@testable import Backend
@testable import Site

/// Which tokens are good.
@Suite struct TokenTests {
    private func refusal(of token: String) throws -> TokenRefusal? {
        let access = try SiteUnderTest.access()
        do throws(TokenRefusal) {
            _ = try access.user(of: token, at: SiteUnderTest.now)
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: SiteUnderTest.Signer.allCases)
    func `a good token of each algorithm says who the user is`(signer: SiteUnderTest.Signer) throws
    {
        let user = try SiteUnderTest.access().user(
            of: SiteUnderTest.token(signer), at: SiteUnderTest.now)
        #expect(user.id == signer.ana)
        #expect(user.claims == SiteUnderTest.claims(signer))
    }

    @Test func `kid names one of the keys`() throws {
        #expect(try refusal(of: SiteUnderTest.token(.rsa, head: ["kid": .string("r1")])) == nil)
        #expect(
            try refusal(of: SiteUnderTest.token(.rsa, head: ["kid": .string("r2")])) == .signature)
    }

    static let claims: [([String: JSONValue?], TokenRefusal?)] = [
        (["aud": .array([.string("x"), .string("api://todos")])], nil),
        (["aud": .string("elsewhere")], .audience),
        (["aud": .array([])], .audience),
        (["aud": nil], .audience),
        (["iss": .string("https://evil.example")], .issuer),
        (["iss": nil], .issuer),
        (["exp": nil], .noExpiry),
        (["exp": .string("9999999999")], .malformed),
        (["exp": time(-59)], nil),
        (["exp": time(-60)], .expired),
        (["nbf": time(60)], nil),
        (["nbf": time(61)], .early),
        (["iat": time(61)], .early),
        (["sub": nil], .user),
        (["sub": .string("")], .user),
        (["sub": .string("a\u{0}b")], .user),
        (["sub": .number(JSONNumber(7))], .user),
    ]

    private static func time(_ seconds: Int64) -> JSONValue {
        .number(JSONNumber(SiteUnderTest.seconds + seconds))
    }

    @Test(arguments: claims)
    func `each claim is looked at`(claims: [String: JSONValue?], expected: TokenRefusal?) throws {
        for signer in SiteUnderTest.Signer.allCases {
            #expect(try refusal(of: SiteUnderTest.token(signer, claims)) == expected, "\(signer)")
        }
    }

    @Test func `the limit of a user's id counts the name of the provider`() throws {
        let subject = String(repeating: "a", count: Site.Limits.userBytes - "aad:".utf8.count)
        #expect(try refusal(of: SiteUnderTest.token(.rsa, ["sub": .string(subject)])) == nil)
        #expect(
            try refusal(of: SiteUnderTest.token(.rsa, ["sub": .string("\(subject)a")])) == .user)
    }

    @Test func `alg none is no algorithm, whatever the signature`() throws {
        for name in ["none", "None", "NONE", "HS512", ""] {
            let token = try SiteUnderTest.token(.own, head: ["alg": .string(name)])
            let unsigned = token.prefix(through: try #require(token.lastIndex(of: ".")))
            #expect(try refusal(of: token) == .algorithm)
            #expect(try refusal(of: String(unsigned)) == .algorithm)
        }
    }

    @Test func `a public key is no secret of HS256`() throws {
        let modulus = try SiteUnderTest.publicModulus()
        for secret in [modulus, try SiteUnderTest.file("aad.jwks")] {
            let head = Base64.encodedForURL(#"{"alg":"HS256"}"#.utf8)
            let signed = "\(head).\(Base64.encodedForURL(SiteUnderTest.claims(.rsa).text.utf8))"
            let code = MessageCode(of: Array(signed.utf8), key: secret).bytes
            #expect(try refusal(of: "\(signed).\(Base64.encodedForURL(code))") == .signature)
        }
    }

    @Test(arguments: SiteUnderTest.Signer.allCases)
    func `a token that was changed anywhere is refused`(signer: SiteUnderTest.Signer) throws {
        let token = try SiteUnderTest.token(signer)
        let other = try SiteUnderTest.token(signer, ["sub": .string("bob")])
        let parts = token.split(separator: ".").map(String.init)
        let others = other.split(separator: ".").map(String.init)
        #expect(try refusal(of: "\(parts[0]).\(others[1]).\(parts[2])") == .signature)
        #expect(try refusal(of: "\(parts[0]).\(parts[1]).\(others[2])") == .signature)
        #expect(try refusal(of: "\(parts[0]).\(parts[1]).") == .signature)
        var signature = try #require(Base64.decoded(parts[2]))
        signature[signature.count / 2] ^= 1
        let forged = Base64.encodedForURL(signature)
        #expect(try refusal(of: "\(parts[0]).\(parts[1]).\(forged)") == .signature)
        for one in SiteUnderTest.Signer.allCases where one != signer {
            // Another issuer's key for this issuer's claims.
            let claims = ["iss": SiteUnderTest.claims(signer)["iss"]]
            #expect(try refusal(of: SiteUnderTest.token(one, claims)) == .signature)
        }
    }

    @Test func `what is no token is refused`() throws {
        let good = try SiteUnderTest.token()
        let texts = [
            "", "a", "a.b", "a.b.c", "..", "\(good).", "\(good)=", " \(good)", "\(good),\(good)",
            good.replacing(".", with: " ."), String(repeating: "a", count: 20_000),
        ]
        for text in texts { #expect(try refusal(of: text) == .malformed, "\(text)") }
        let critical = try SiteUnderTest.token(.own, head: ["crit": .array([.string("exp")])])
        #expect(try refusal(of: critical) == .malformed)
    }

    static let files: [(String, String)] = [
        ("[", "not JSON"), ("{}", "neither \"own\" nor \"providers\""),
        (#"{"issuers":[]}"#, "\"issuers\" is not known in the file"),
        (#"{"own":{"issuer":"a","audience":"b","keyFile":"c","algorithm":"none"}}"#, "algorithm"),
        (#"{"own":{"issuer":"a","audience":"b"}}"#, "\"keyFile\" of \"own\" is missing"),
        (#"{"providers":[{"name":"a b"}]}"#, "no name of a provider"),
        (
            #"{"providers":[{"name":"a","issuer":"i","audiences":[],"jwksFile":"aad.jwks"}]}"#,
            "\"audiences\" of a has to be a list"
        ),
        (
            #"{"providers":[{"name":"a","issuer":"i","audiences":["b"],"jwksFile":"own.key"}]}"#,
            "own.key is not a JWK set"
        ),
        (
            #"{"clockSkewSeconds":301,"own":{"issuer":"a","audience":"b","keyFile":"own.key"}}"#,
            "from 0 to 300"
        ),
        (
            SiteUnderTest.file.replacing("google.example", with: "x").replacing(
                "accounts.x", with: "aad.example/v2.0"), "same \"issuer\""
        ),
        (SiteUnderTest.file.replacing("\"google\"", with: "\"aad\""), "same \"name\""),
    ]

    @Test(arguments: files)
    func `a file that cannot be used says why`(text: String, words: String) throws {
        let problem = #expect(throws: AccessProblem.self) { try SiteUnderTest.access(text) }
        #expect(problem?.description.contains(words) == true, "\(problem?.description ?? "")")
        #expect(problem?.description.contains("..") == false, "\(problem?.description ?? "")")
    }

    @Test(arguments: [
        String(repeating: " ", count: 40), "short", "\(SiteUnderTest.adminToken) x",
        "\(SiteUnderTest.adminToken)é",
    ])
    func `the administrator's token is one that a header field carries`(token: String) throws {
        let problem = #expect(throws: AccessProblem.self) {
            try BackendAccess(
                parsing: Array(SiteUnderTest.file.utf8), adminToken: token,
                read: SiteUnderTest.file(_:))
        }
        #expect(problem?.description.contains("no blanks") == true)
    }
}
