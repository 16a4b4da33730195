import Foundation
import HesperModel
import HesperStore
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import Testing

@testable import HesperServer

/// The addresses, URLs and signatures of webhooks, and requests to receivers in the same process.
@Suite struct WebhookTests {
    // MARK: Addresses

    @Test(
        "Public addresses are permitted over HTTPS only",
        arguments: [
            "1.1.1.1", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "172.15.255.255", "172.32.0.0",
            "192.169.0.1", "223.255.255.255", "::ffff:8.8.8.8", "2606:4700:4700::1111", "2a00:1450:4001:80b::200e",
            "64:ff9b::8.8.8.8",
        ])
    func publicAddresses(_ text: String) throws {
        let address = try #require(IPAddress(text))
        #expect(WebhookNetwork().permits(address, isEncrypted: true))
        #expect(!WebhookNetwork().permits(address, isEncrypted: false))
    }

    @Test(
        "Private and special addresses are refused",
        arguments: [
            // This machine, in all forms.
            "127.0.0.1", "127.255.255.254", "0.0.0.0", "0.1.2.3", "::1", "::", "::ffff:127.0.0.1", "::127.0.0.1",
            // Private networks.
            "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "100.64.0.1", "100.127.255.255", "fc00::1",
            "fd12:3456::1", "::ffff:192.168.1.1", "::ffff:a00:1",
            // Link-local, with the metadata services of clouds.
            "169.254.169.254", "fe80::1", "fec0::1", "::ffff:169.254.169.254", "fd00:ec2::254",
            // NAT64, 6to4 and Teredo, which lead to IPv4 addresses.
            "64:ff9b::10.0.0.1", "64:ff9b::127.0.0.1", "64:ff9b::169.254.169.254", "64:ff9b:1::10.0.0.1",
            "2002:a00:1::1", "2002:7f00:1::1", "2001:0:53aa:64c::1",
            // Documentation, benchmarks, multicast, reserved.
            "192.0.0.1", "192.0.2.1", "198.18.0.1", "198.19.255.255", "198.51.100.1", "203.0.113.1", "224.0.0.1",
            "239.255.255.255", "240.0.0.1", "255.255.255.255", "2001:db8::1", "ff02::1", "100::1", "3fff::1", "5f00::1",
            "4000::1",
        ])
    func specialAddresses(_ text: String) throws {
        #expect(!WebhookNetwork().permits(try #require(IPAddress(text)), isEncrypted: true))
    }

    @Test func theOperatorAllowsNetworks() throws {
        let network = WebhookNetwork(allowed: ["192.168.1.0/24", "fd00::/8"].compactMap { AddressRange($0) })
        for (text, isAllowed) in [
            ("192.168.1.7", true), ("::ffff:192.168.1.7", true), ("fd12::1", true), ("192.168.2.7", false),
            ("127.0.0.1", false),
        ] {
            for isEncrypted in [true, false] {
                #expect(
                    network.permits(try #require(IPAddress(text)), isEncrypted: isEncrypted) == isAllowed, "\(text)")
            }
        }
    }

    // MARK: URLs

    @Test(arguments: [
        ("https://example.org", "https://example.org/"), ("HTTPS://Example.ORG/A?b=C", "https://example.org/A?b=C"),
        ("https://example.org:443/x", "https://example.org/x"), ("http://a-b.c_d:8123/", "http://a-b.c_d:8123/"),
        ("https://example.org?x", "https://example.org/?x"),
        ("https://[2606:4700::1]:8443/", "https://[2606:4700::1]:8443/"),
        ("http://127.1/", "http://127.1/"),
    ])
    func acceptedURLs(_ text: String, _ requested: String) throws {
        #expect(try WebhookURL(text).text == requested)
    }

    @Test(arguments: [
        "", "example.org", "ftp://example.org", "https://", "https:///x", "https://user@example.org/",
        "https://user:pass@example.org/", "https://example.org/#x", "https://example.org:22/", "https://example.org:0/",
        "https://example.org:65536/", "https://example.org:/", "https://example.org:+443/", "https://exämple.org/",
        "https://example.org/ä", "https://example.org/a b", "https://example.org/\r\nHost: x", "https://[::1",
        "https://[fe80::1%25eth0]/", "https://a..b/", "https://.a/", "https://a./", "https://-a/", "https://a%2eb/",
        "https://example.org\\@evil.example/", "https://" + String(repeating: "a", count: 64),
        "https://a/" + String(repeating: "x", count: 2_048),
    ])
    func refusedURLs(_ text: String) {
        #expect(throws: WebhookURL.Invalid.self) { try WebhookURL(text) }
    }

    // MARK: Signatures

    @Test("The signature is that of the example of Standard Webhooks")
    func signature() throws {
        let secret = try #require(Data(base64Encoded: "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"))
        let message = WebhookMessage(
            id: "msg_p5jXN8AQM9LWM0D4loKWxJek", body: Array(#"{"test": 2432232314}"#.utf8))
        let headers = message.headers(
            secret: Array(secret), at: try #require(Timestamp(milliseconds: 1_614_265_330_000)))
        let found = Dictionary(uniqueKeysWithValues: headers)
        #expect(found["webhook-id"] == "msg_p5jXN8AQM9LWM0D4loKWxJek")
        #expect(found["webhook-timestamp"] == "1614265330")
        #expect(found["webhook-signature"] == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
    }

    @Test func theIDOfAnEventDependsOnEverythingThatIdentifiesIt() {
        let (hook, object) = (UniqueID.random(), UniqueID.random())
        let id = WebhookMessage.id(of: .noteChanged, object, 7, to: hook, epoch: 1)
        #expect(id == WebhookMessage.id(of: .noteChanged, object, 7, to: hook, epoch: 1))
        let others = [
            WebhookMessage.id(of: .noteCreated, object, 7, to: hook, epoch: 1),
            WebhookMessage.id(of: .noteChanged, .random(), 7, to: hook, epoch: 1),
            WebhookMessage.id(of: .noteChanged, object, 8, to: hook, epoch: 1),
            WebhookMessage.id(of: .noteChanged, object, 7, to: .random(), epoch: 1),
            WebhookMessage.id(of: .noteChanged, object, 7, to: hook, epoch: 2),
        ]
        #expect(Set(others + [id]).count == 6)
    }

    // MARK: Requests

    private static let secret = [UInt8](repeating: 7, count: 32)
    private static let message = WebhookMessage(id: "msg_1", body: Array("{}".utf8))

    private func makeSender(
        allowing networks: [String], _ resolve: @escaping @Sendable (String) async throws -> [IPAddress]
    ) -> WebhookSender {
        // The other tests may use all threads for a while.
        WebhookSender(
            network: WebhookNetwork(allowed: networks.compactMap { AddressRange($0) }), version: "1", resolve: resolve,
            limits: WebhookSender.Limits(seconds: 300))
    }

    private func send(_ sender: WebhookSender, to url: String) async -> WebhookSender.Outcome {
        await sender.send(WebhookTests.message, to: url, secret: WebhookTests.secret, at: .now)
    }

    @Test("The request goes to the address that was checked, and the host name is resolved once")
    func rebinding() async throws {
        let receiver = try await LoopbackReceiver(address: "127.0.0.1")
        let other = try await LoopbackReceiver(address: "127.0.0.2", port: receiver.port)
        let lookUps = NIOLockedValueBox(0)
        // The name resolves to the permitted address first, and to the other one afterwards.
        let sender = makeSender(allowing: ["127.0.0.1"]) { host in
            #expect(host == "rebind.example")
            let count = lookUps.withLockedValue { count in
                count += 1
                return count
            }
            return [IPAddress(count == 1 ? "127.0.0.1" : "127.0.0.2")].compactMap(\.self)
        }
        let url = "http://rebind.example:\(receiver.port)/hook?x=1"
        #expect(await send(sender, to: url) == WebhookSender.Outcome(status: 204))
        #expect(lookUps.withLockedValue { $0 } == 1)
        let requests = receiver.requests
        #expect(requests.count == 1)
        #expect(requests[0].hasPrefix("POST /hook?x=1 HTTP/1.1\r\n"))
        #expect(requests[0].lowercased().contains("\r\nhost: rebind.example:\(receiver.port)\r\n"))
        #expect(requests[0].contains("\r\nwebhook-id: msg_1\r\n"))
        // Now the name leads to an address that is not permitted.
        let outcome = await send(sender, to: url)
        #expect(outcome.status == nil)
        #expect(outcome.error?.contains("networks that the operator of the server has allowed") == true)
        #expect(receiver.requests.count == 1 && other.requests.isEmpty)
        try await receiver.close()
        try await other.close()
    }

    @Test(
        "A name with one address that is not permitted is refused",
        arguments: [
            ["127.0.0.1", "10.0.0.1"], ["::ffff:10.0.0.1"], ["64:ff9b::10.0.0.1", "127.0.0.1"], [],
        ])
    func mixedAddresses(_ addresses: [String]) async throws {
        let receiver = try await LoopbackReceiver(address: "127.0.0.1")
        let sender = makeSender(allowing: ["127.0.0.1"]) { _ in addresses.compactMap { IPAddress($0) } }
        let outcome = await send(sender, to: "http://inward.example:\(receiver.port)/")
        #expect(outcome.status == nil && outcome.error != nil)
        #expect(receiver.requests.isEmpty)
        try await receiver.close()
    }

    @Test("If an address refuses the connection, the next one is tried")
    func secondAddress() async throws {
        let receiver = try await LoopbackReceiver(address: "127.0.0.1")
        let sender = makeSender(allowing: ["127.0.0.0/8"]) { _ in
            ["127.0.0.3", "127.0.0.1"].compactMap { IPAddress($0) }
        }
        let outcome = await send(sender, to: "http://two.example:\(receiver.port)/")
        #expect(outcome == WebhookSender.Outcome(status: 204))
        try await receiver.close()
    }

    @Test("A look-up that does not end, and a receiver that does not respond, end with the time for the request")
    func slowRequests() async throws {
        let receiver = try await LoopbackReceiver(address: "127.0.0.1", response: nil)
        var sender = makeSender(allowing: ["127.0.0.1"]) { host in
            if host == "slow.example" { try await Task.sleep(for: .seconds(600)) }
            return [IPAddress("127.0.0.1")].compactMap(\.self)
        }
        sender.limits.seconds = 1
        for host in ["slow.example", "silent.example"] {
            let outcome = await send(sender, to: "http://\(host):\(receiver.port)/")
            #expect(outcome == WebhookSender.Outcome(error: "The receiver did not respond within 1 s."))
        }
        try await receiver.close()
    }

    @Test("The operating system's resolver finds this machine")
    func resolver() async throws {
        let addresses = try await HostResolver.addresses(of: "localhost")
        #expect(!addresses.isEmpty && addresses.allSatisfy(\.isLoopback))
        await #expect(throws: WebhookFailure.unresolved) { try await HostResolver.addresses(of: "a.invalid") }
        // A number that the resolver reads as an address is checked like one.
        #expect(try await HostResolver.addresses(of: "127.1").map(\.text) == ["127.0.0.1"])
    }
}

/// Receives HTTP requests on a loopback address and records them.
private final class LoopbackReceiver: Sendable {
    private let channel: any Channel
    private let received: NIOLockedValueBox<[String]>

    var port: Int { channel.localAddress?.port ?? 0 }
    var requests: [String] { received.withLockedValue { $0 } }

    /// - Parameter response: the response to every request; nil for none.
    init(
        address: String, port: Int = 0, response: String? = "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n"
    ) async throws {
        let received = NIOLockedValueBox<[String]>([])
        self.received = received
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Handler(received: received, response: response))
                }
            }
            .bind(host: address, port: port).get()
    }

    func close() async throws { try await channel.close() }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let received: NIOLockedValueBox<[String]>
        private let response: String?
        private var text = ""

        init(received: NIOLockedValueBox<[String]>, response: String?) {
            self.received = received
            self.response = response
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            text += String(buffer: unwrapInboundIn(data))
            guard text.hasSuffix("\r\n\r\n{}") else { return }
            received.withLockedValue { $0.append(text) }
            text = ""
            guard let response else { return }
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: response)), promise: nil)
        }
    }
}
