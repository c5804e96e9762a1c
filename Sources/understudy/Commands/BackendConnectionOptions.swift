import ArgumentParser

/// The options that say how the backend is reached.
struct BackendConnectionOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "PEM file of the authorities to trust for the backend. (default: the system's)",
            valueName: "file"))
    var backendCa: String?

    @Option(
        help: ArgumentHelp("PEM file of the certificate to show the backend.", valueName: "file"))
    var backendCert: String?

    @Option(help: ArgumentHelp("PEM file of the key to --backend-cert.", valueName: "file"))
    var backendKey: String?

    @Option(
        help: ArgumentHelp(
            "The proxy on the way to the backend, such as http://10.0.0.1:3128.", valueName: "url"))
    var backendProxy: String?

    @Flag(help: "Send rows and tokens in the clear to a backend on another machine.")
    var allowPlainHttp = false

    /// The flags by the names of their settings.
    var flags: [String: [String]] {
        [
            Settings.backendCA.name: backendCa.map { [$0] } ?? [],
            Settings.backendCertificate.name: backendCert.map { [$0] } ?? [],
            Settings.backendKey.name: backendKey.map { [$0] } ?? [],
            Settings.backendProxy.name: backendProxy.map { [$0] } ?? [],
            Settings.allowPlainHTTP.name: allowPlainHttp ? ["yes"] : [],
        ]
    }
}
