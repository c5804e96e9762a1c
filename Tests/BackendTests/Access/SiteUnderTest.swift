import Signatures
import TablesProtocol
import TestSupport
import Testing

@testable import Backend
@testable import Site

/// A site's backend under test: it makes tokens of its own, and two providers make others.
struct SiteUnderTest {
    static let now = Instant(milliseconds: 1_800_000_000_000)
    static let seconds: Int64 = 1_800_000_000
    static let adminToken = "administrator-administrator-admin"
    static let secret = "0123456789abcdef0123456789abcdef"
    private static let rsa = Result { try SigningKey(.rsa) }
    private static let curve = Result { try SigningKey(.curve) }

    /// Who signs a token, and with which algorithm.
    enum Signer: CaseIterable, Sendable {
        case own, rsa, curve

        var algorithm: String {
            switch self {
            case .own: "HS256"
            case .rsa: "RS256"
            case .curve: "ES256"
            }
        }

        /// What identifies the user `ana` of this issuer.
        var ana: String {
            switch self {
            case .own: "ana"
            case .rsa: "aad:ana"
            case .curve: "google:ana"
            }
        }

        fileprivate func sign(_ bytes: [UInt8]) throws -> [UInt8] {
            switch self {
            case .own:
                return MessageCode(of: bytes, key: Array(SiteUnderTest.secret.utf8)).bytes
            case .rsa: return try SiteUnderTest.rsa.get().sign(bytes)
            case .curve: return try SiteUnderTest.curve.get().sign(bytes)
            }
        }
    }

    /// The claims of a good token of the user `ana`.
    static func claims(_ signer: Signer, _ more: [String: JSONValue?] = [:]) -> JSONValue {
        let issuer =
            switch signer {
            case .own: "https://site.example"
            case .rsa: "https://aad.example/v2.0"
            case .curve: "https://accounts.google.example"
            }
        var claims: [String: JSONValue] = [
            "iss": .string(issuer), "aud": .string("api://todos"), "sub": .string("ana"),
            "exp": .number(JSONNumber(seconds + 3600)),
        ]
        for (name, value) in more { claims[name] = value }
        return .object(claims.sorted { $0.key < $1.key }.map { .init($0.key, $0.value) })
    }

    /// A token.
    /// - Parameters:
    ///   - head: more members of its head; `alg` too.
    ///   - claims: claims instead of those of a good token; nil for none.
    static func token(
        _ signer: Signer = .own, _ claims: [String: JSONValue?] = [:],
        head more: [String: JSONValue] = [:]
    ) throws -> String {
        var head: [String: JSONValue] = ["alg": .string(signer.algorithm)]
        for (name, value) in more { head[name] = value }
        let parts = [
            JSONValue.object(head.sorted { $0.key < $1.key }.map { .init($0.key, $0.value) }),
            Self.claims(signer, claims),
        ]
        let signed = parts.map { Base64.encodedForURL($0.text.utf8) }.joined(separator: ".")
        return "\(signed).\(Base64.encodedForURL(try signer.sign(Array(signed.utf8))))"
    }

    /// The modulus of the RSA key, as an attacker has it.
    static func publicModulus() throws -> [UInt8] {
        try rsa.get().numbers[0]
    }

    /// The files that the access file names.
    static func file(_ name: String) throws -> [UInt8] {
        let (numbers, point) = (try rsa.get().numbers, try curve.get().numbers)
        func text(_ bytes: some Sequence<UInt8>) -> String { Base64.encodedForURL(bytes) }
        switch name {
        case "own.key": return Array("\(secret)\n".utf8)
        case "aad.jwks":
            return Array(
                """
                {"keys":[{"kty":"oct","k":"AAAA"},{"kty":"RSA","kid":"r1","use":"sig","alg":"RS256",\
                "n":"\(text(numbers[0]))","e":"\(text(numbers[1]))"}]}
                """.utf8)
        case "google.jwks":
            return Array(
                """
                {"keys":[{"kty":"EC","kid":"e1","crv":"P-256","x":"\(text(point[0]))",\
                "y":"\(text(point[1]))"}]}
                """.utf8)
        case _: throw NoFile()
        }
    }

    struct NoFile: Error {}

    static let file = """
        {"own":{"issuer":"https://site.example","audience":"api://todos","keyFile":"own.key"},
         "providers":[
          {"name":"aad","issuer":"https://aad.example/v2.0","audiences":["other","api://todos"],
           "jwksFile":"aad.jwks"},
          {"name":"google","issuer":"https://accounts.google.example",
           "audiences":["api://todos"],"jwksFile":"google.jwks"}]}
        """

    static func access(_ text: String = file) throws -> BackendAccess {
        try BackendAccess(
            parsing: Array(text.utf8), adminToken: adminToken, read: file(_:))
    }

    /// A client of a backend with one table of these options.
    static func client(
        _ table: TableOptions, _ flavour: BackendFlavour = .mobileApps
    ) throws -> Client {
        var options = BackendOptions(flavour: flavour)
        options.tokens = .verified
        options.servesFaults = true
        options.allowsPut = true
        options.tables[try #require(TableName("todos"))] = table
        var client = try Client(options, clock: { now })
        client.backend.access = try access()
        switch flavour {
        case .node, .express, .dotnet: client.fields = [("ZUMO-API-VERSION", "2.0.0")]
        case .datasync: client.fields = [("ZUMO-API-VERSION", "3.0.0")]
        case .mobileServices, .mobileApps, .toolkit: break
        }
        return client
    }
}
