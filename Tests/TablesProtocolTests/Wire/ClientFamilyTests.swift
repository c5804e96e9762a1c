import HTTPMessage
import HTTPTypes
import Testing

@testable import TablesProtocol

@Suite struct ClientFamilyTests {
    @Test(arguments: [
        ("ZUMO-API-VERSION", "2.0.0", ClientFamily.mobileApps),
        ("ZUMO-API-VERSION", "2.0.7", .mobileApps),
        ("ZUMO-API-VERSION", "3.0.0", .toolkit), ("ZUMO-API-VERSION", "3.0", .toolkit),
        ("X-ZUMO-APPLICATION", "key", .mobileServices),
        ("X-ZUMO-VERSION", "2.0.2", .mobileServices),
        ("User-Agent", "ZUMO/1.3 (lang=Managed; os=Windows)", .mobileServices),
        ("User-Agent", "Datasync/8.0 (lang=Managed)", .toolkit),
        ("User-Agent", "datasync/8.0", .toolkit), ("X-ZUMO-VERSION", "Datasync/6.0", .datasync),
        ("User-Agent", "curl/8", .mobileApps),
        ("Accept", "*/*", .mobileApps),
    ])
    func `one mark identifies the SDK`(name: String, value: String, client: ClientFamily) {
        let request = WireSample.request(.get, "/tables/t", [name: value])
        #expect(ClientFamily.detect(request, default: .mobileApps) == client)
        #expect(Generation.detect(request, default: .mobileApps) == client.generation)
    }

    @Test(arguments: [
        ("?ZUMO-API-VERSION=2.0.0", ClientFamily.mobileApps), ("?zumo-api-version=3.0.0", .toolkit),
        ("?__systemProperties=*", .mobileServices), ("?%24count=true", .toolkit),
        ("?$inlinecount=allpages", .mobileServices), ("", .mobileServices),
    ])
    func `the query identifies the SDK too, then the default applies`(
        query: String, client: ClientFamily
    ) {
        let request = WireSample.request(.get, "/tables/t\(query)")
        #expect(ClientFamily.detect(request, default: .mobileServices) == client)
    }

    @Test(arguments: ClientFamily.allCases)
    func `each SDK is identified by its requests`(client: ClientFamily) {
        for generation in Generation.allCases {
            let request = WireSample.request(.post, "/tables/t", WireSample.fields(client))
            #expect(ClientFamily.detect(request, default: generation) == client)
        }
    }

    @Test func `PUT without a mark is the toolkit's, the header's version wins over the query's`() {
        let put = WireSample.request(.put, "/tables/t/a")
        #expect(ClientFamily.detect(put, default: .mobileServices) == .toolkit)
        let both = WireSample.request(
            .get, "/tables/t?zumo-api-version=3.0.0", WireSample.mobileApps)
        #expect(ClientFamily.detect(both, default: .mobileServices) == .mobileApps)
    }

    @Test(arguments: [
        "nextLink=path", "nextlink=path", "NEXTLINK=PATH", "include:deleted, NextLink=Path",
    ])
    func `a client identified only by its user agent gets links that are a path`(options: String)
        throws
    {
        for fields in [
            ["User-Agent": "Datasync/6.0.1 (lang=Managed)"],
            ["User-Agent": "Datasync/6.0.1", "X-ZUMO-VERSION": "Datasync/6.0.1"],
            ["ZUMO-API-VERSION": "3.0.0"],
        ] {
            let marked = fields.merging(["x-zumo-options": options]) { $1 }
            let call = try TableCall.parse(
                WireSample.request(.get, "/tables/t?$top=9", marked), defaultGeneration: .mobileApps
            )
            #expect(call.client == .datasync)
            #expect(call.origin.wantsPathLinks)
            let page = ItemPage(items: [try WireSample.item()], count: nil, hasMore: true)
            let bytes = TablesAnswer(to: call).render(page: page).bytes ?? []
            let body = try JSONText(validating: bytes).value
            #expect(body["nextLink"]?.string == "/tables/t?$top=8&$skip=1")
        }
    }

    @Test(arguments: ["1.0.0", "4.0.0", "", "x", "20.0"])
    func `another version is refused`(version: String) {
        #expect(throws: TablesError.unsupportedVersion) {
            try WireSample.call(.get, "/tables/t", ["ZUMO-API-VERSION": version])
        }
    }
}
