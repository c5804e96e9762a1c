import Glibc
import HTTPMessage
import HTTPServer
import HTTPTypes
import Testing

@Suite struct StartTests {
    private static func server(_ addresses: [ListenAddress], sockets: [CInt] = []) -> Server {
        Server(
            ServerConfiguration(addresses: addresses, openSockets: sockets),
            handler: TestHandler {
                .now(.text("\($0.connection.localAddress):\($0.connection.localPort)"))
            })
    }

    @Test func `both loopback addresses are served by one set of workers`() async throws {
        let server = Self.server([try ListenAddress("127.0.0.1:0"), try ListenAddress("[::1]:0")])
        let bound = try server.start()
        let four = RawClient(port: bound[0].port)
        four.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(four.answer()?.text == "127.0.0.1:\(bound[0].port)")
        let six = RawClient(port: bound[1].port, ipv6: true)
        six.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(six.answer()?.text == "::1:\(bound[1].port)")
        #expect(bound[1].description == "[::1]:\(bound[1].port)")
        await server.stop()
    }

    @Test func `an address in use is named, an optional one left out`() async throws {
        let first = try RunningServer(.echo)
        let text = "127.0.0.1:\(first.port)"
        let second = Self.server([try ListenAddress(text)])
        #expect(throws: StartFailure.addressInUse(text)) { try second.start() }
        #expect(
            StartFailure.addressInUse(text).description
                == "\(text) is in use by another program; stop it or listen on another port.")
        let free = try ListenAddress("127.0.0.1:0")
        let third = Self.server([free, try ListenAddress(text, isOptional: true)])
        #expect(try third.start().count == 1)
        await third.stop()
        let nowhere = Self.server([try ListenAddress(text, isOptional: true)])
        #expect(throws: StartFailure.nowhereToListen) { try nowhere.start() }
    }

    @Test func `a failed start can be tried again`() async throws {
        let first = try RunningServer(.echo)
        let address = try ListenAddress("127.0.0.1:\(first.port)")
        let second = Self.server([address])
        #expect(throws: StartFailure.self) { try second.start() }
        await first.server.stop()
        #expect(try second.start() == [address])
        await second.stop()
    }

    @Test func `an address of another machine is refused by name`() throws {
        let server = Self.server([try ListenAddress("192.0.2.1:0")])
        #expect(throws: StartFailure.addressNotAvailable("192.0.2.1:0")) { try server.start() }
    }

    @Test(arguments: [
        "", "8080", "localhost:8080", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1",
        "127.1:80", "::1:8080", "[::1]", "[127.0.0.1]:80", "[::1:80", "::1]:80", "[::g]:80",
    ])
    func `what is not a numeric address with a port is refused`(text: String) {
        #expect(throws: StartFailure.invalidAddress(text)) { try ListenAddress(text) }
    }

    @Test func `a listening socket of another program is adopted`() async throws {
        let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        #expect(throws: StartFailure.notListening(descriptor: descriptor)) {
            try Self.server([], sockets: [descriptor]).start()
        }
        #expect(listen(descriptor, 8) == 0)
        let server = Self.server([], sockets: [descriptor])
        let port = try server.start()[0].port
        let client = RawClient(port: port)
        client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(client.answer()?.text == "127.0.0.1:\(port)")
        await server.stop()
    }

    @Test func `connections beyond the limit wait until one closes`() throws {
        var limits = Limits()
        limits.connections = 2
        let server = try RunningServer(limits: limits, .echo)
        let get = "GET / HTTP/1.1\r\nHost: h\r\n\r\n"
        var third = server.client()
        do {
            let first = server.client()
            third.send(get)
            #expect(third.answer()?.status == 200)
            first.send(get)
            #expect(first.answer()?.status == 200)
            third = server.client()
            third.send(get)
        }
        #expect(third.answer()?.status == 200)
    }
}
