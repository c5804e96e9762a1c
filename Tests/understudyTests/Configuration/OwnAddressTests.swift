import HTTPServer
import SyncCore
import Testing

@testable import Program
@testable import understudy

/// A backend must not be an address of the proxy itself.
struct OwnAddressTests {
    @Test(arguments: [
        ("http://127.0.0.1:8080", "127.0.0.1:8080"),
        ("https://127.0.0.1:8080/app", "127.0.0.1:8080"),
        ("http://localhost:8080", "127.0.0.1:8080"), ("http://LOCALHOST:8080", "[::1]:8080"),
        ("http://[::1]:8080", "[::1]:8080"), ("http://127.0.0.1", "127.0.0.1:80"),
        ("https://localhost", "127.0.0.1:443"),
    ])
    func `a backend at the proxy's own address is recognised`(backend: String, own: String) throws {
        let backend = try #require(BackendAddress(backend))
        #expect(try backend.isServed(at: ListenAddress(own)))
    }

    @Test(arguments: [
        ("http://127.0.0.1:8081", "127.0.0.1:8080"), ("http://127.0.0.2:8080", "127.0.0.1:8080"),
        ("http://localhost:8080", "127.0.0.2:8080"), ("http://[::1]:8080", "127.0.0.1:8080"),
        ("http://contoso.example:8080", "127.0.0.1:8080"), ("http://127.0.0.1:0", "127.0.0.1:0"),
        ("http://localhost:808", "127.0.0.1:8080"), ("http://127.0.0.1:80800", "127.0.0.1:8080"),
    ])
    func `a backend at another address is not the proxy`(backend: String, own: String) throws {
        let backend = try #require(BackendAddress(backend))
        #expect(try !backend.isServed(at: ListenAddress(own)))
    }
}
