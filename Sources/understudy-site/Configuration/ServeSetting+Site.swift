import Program

extension ServeSetting {
    /// All settings of a site, in the order of the commented file.
    static let ofSite: [ServeSetting] = [
        ServeSetting(Settings.anyListen),
        ServeSetting(Settings.certificate),
        ServeSetting(Settings.certificateKey),
        ServeSetting(Settings.servePlainHTTP),
        ServeSetting(Settings.publicAddress),
        ServeSetting(Settings.accessFile),
        ServeSetting(Settings.adminTokenFile),
        ServeSetting(Settings.defaultAccess),
        ServeSetting(Settings.backendTable),
        ServeSetting(Settings.database, isSecret: true),
        ServeSetting(Settings.backendData),
        ServeSetting(Settings.flavour),
        ServeSetting(Settings.integerIDs),
        ServeSetting(Settings.hardDelete),
        ServeSetting(Settings.signIn),
        ServeSetting(Settings.pageRows),
        ServeSetting(Settings.requestsPerSecond),
        ServeSetting(Settings.drain),
        ServeSetting(Settings.logLevel),
        ServeSetting(Settings.logFormat),
    ]
}
