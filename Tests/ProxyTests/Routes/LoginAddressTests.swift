import HTTPTypes
import TablesProtocol
import Testing

@testable import Proxy

@Suite struct LoginAddressTests {
    @Test(arguments: [
        ("/login/facebook", "/.auth/login/facebook"),
        ("/login/facebook/", "/.auth/login/facebook"),
        ("/login", "/.auth/login/microsoftaccount"),
        ("/Login/windowsazureactivedirectory", "/.auth/login/aad"),
        ("/login/google?x=a%20b&y=1", "/.auth/login/google?x=a%20b&y=1"),
        ("/login/done", "/.auth/login/done"),
    ])
    func `Mobile Services' address becomes App Service's`(target: String, other: String) throws {
        let address = try #require(LoginAddress(target: target))
        #expect(address.form == .mobileServices)
        #expect(try address.target(in: .appService, isBrowser: false) == other)
    }

    @Test(arguments: [
        ("/login/facebook", "/.auth/login/facebook?session_mode=token"),
        ("/login/facebook?a=1", "/.auth/login/facebook?a=1&session_mode=token"),
        ("/login/facebook?session_mode=cookie", "/.auth/login/facebook?session_mode=cookie"),
        ("/login/done", "/.auth/login/done"),
    ])
    func `a browser's login requests the token at its end`(target: String, other: String) throws {
        let address = try #require(LoginAddress(target: target))
        #expect(try address.target(in: .appService, isBrowser: true) == other)
    }

    @Test(arguments: [
        ("/.auth/login/facebook", "/login/facebook"),
        ("/.auth/login/aad?session_mode=token&b=2", "/login/aad?b=2"),
        ("/.auth/login/done", "/login/done"),
    ])
    func `App Service's address becomes Mobile Services'`(target: String, other: String) throws {
        let address = try #require(LoginAddress(target: target))
        #expect(address.form == .appService)
        #expect(try address.target(in: .mobileServices, isBrowser: true) == other)
    }

    @Test(arguments: [
        ("/.auth/refresh", 400), ("/.auth/me", 501), ("/.auth/logout", 501),
        ("/.auth/login/facebook/token?authorization_code=1&code_verifier=2", 501),
        ("/.auth/login/facebook?post_login_redirect_url=app://x&code_challenge=y", 501),
    ])
    func `an address without a form in Mobile Services is refused with a reason`(
        target: String, status: Int
    ) throws {
        let address = try #require(LoginAddress(target: target))
        let error = try #require(throws: TablesError.self) {
            try address.target(in: .mobileServices, isBrowser: true)
        }
        #expect(error.status(in: .mobileApps).code == status)
        #expect(error.sentence(in: .mobileApps).hasPrefix("The backend is of Mobile Services"))
    }

    @Test(arguments: ["/api/login", "/tables/login", "/", "/loginx", "/.authx/login"])
    func `other addresses are no logins`(target: String) {
        #expect(LoginAddress(target: target) == nil)
    }
}
