import TablesProtocol
import Testing

@testable import Backend

/// The address by which clients reach a backend behind something that speaks TLS.
@Suite struct PublicAddressTests {
    @Test(
        arguments: [
            ("https://site.example", "https://site.example"),
            ("https://Site.example/", "https://site.example"),
            ("http://10.0.0.1:8080", "http://10.0.0.1:8080"),
            ("https://[::1]:8443/", "https://[::1]:8443"),
            ("site.example", nil), ("https://", nil), ("https://a/b", nil), ("ftp://a", nil),
            ("https://a:99999", nil), ("https://u@a", nil), ("https://a?b", nil),
        ] as [(String, String?)])
    func `an address has a scheme, a host and no path`(text: String, read: String?) {
        #expect(PublicAddress(text)?.description == read)
    }

    @Test(
        arguments: [
            (.mobileServices, "https://site.example:8443/tables/t/a", nil),
            (
                .mobileApps, "https://site.example:8443/tables/t/a",
                "https://site.example:8443/tables/t?$skip=1; rel=next"
            ),
            // The Node server forgets the path.
            (.node, nil, "https://site.example:8443/?%24top=999&%24skip=1; rel=next"),
            (
                .datasync, "https://site.example:8443/tables/t/a",
                "https://site.example:8443/tables/t?$skip=1"
            ),
        ] as [(BackendFlavour, String?, String?)])
    func `links begin with it`(flavour: BackendFlavour, location: String?, next: String?) throws {
        var options = BackendOptions(flavour: flavour)
        options.pageRows = 1
        options.publicAddress = PublicAddress("https://site.example:8443")
        let client = try Client(options, fields: Client.fields(of: flavour))
        let made = try client.send("POST", "/tables/t", #"{"id":"a","text":"x"}"#)
        #expect(made.field("Location") == location)
        _ = try client.send("POST", "/tables/t", #"{"id":"b","text":"x"}"#)
        let list = try client.send("GET", "/tables/t")
        #expect((list.field("Link") ?? list.json["nextLink"]?.string) == next)
    }
}
