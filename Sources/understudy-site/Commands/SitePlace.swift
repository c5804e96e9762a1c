import ArgumentParser
import Backend
import Platform
import Program
import Site

/// The backend's PostgreSQL, by a flag or by the settings of its nodes.
struct DatabaseOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The backend's PostgreSQL, as `understudy-site` is given it.", valueName: "url"))
    var database: String?

    @Option(
        help: """
            The backend's configuration file. (default: understudy/backend.conf in ~/.config, where \
            it is)
            """, completion: .file())
    var config: String?

    /// The settings of the backend: the flags, the environment, and its configuration file.
    /// - Parameter flags: those of the command, beside the database.
    func sources(_ flags: [String: [String]] = [:]) throws(StartProblem) -> Sources {
        var flags = flags
        flags[Settings.database.name] = database.map { [$0] } ?? []
        return Sources(
            flags: flags, environment: ThisProcess.environment,
            file: try ConfigurationFile.load(
                flag: config, environment: ThisProcess.environment, for: SiteFile.kind))
    }
}

/// Which backend rows move into.
struct BackendPlaceOptions: ParsableArguments {
    @Option(Settings.backendData, completion: .directory) var data: String?

    @OptionGroup var database: DatabaseOptions

    @Flag(
        help: """
            Clients sync with this backend already: rows get new stamps, so that they learn of \
            them. A table that clients have written to is taken so in any case.
            """)
    var inUse = false

    /// The settings of the backend: the flags, the environment, and its configuration file.
    func sources() throws(StartProblem) -> Sources {
        try database.sources([Settings.backendData.name: data.map { [$0] } ?? []])
    }
}

/// A backend's rows while a command writes them and no server listens.
struct OpenedBackend {
    let backend: TablesBackend
    private let lock: FolderLock?

    /// Opens the backend of the settings. A folder is locked; nodes may serve PostgreSQL meanwhile.
    /// - Parameter isRehearsal: whether nothing is to be written. Then a folder without a backend stays as it
    ///   is, and an empty one in memory is in its place.
    init(_ sources: Sources, isRehearsal: Bool = false) throws(StartProblem) {
        do {
            if let url = try sources.value(Settings.database) {
                lock = nil
                backend = try TablesBackend(database: url) { ThisProcess.now }
                return
            }
            let folder =
                try sources.value(Settings.backendData)
                ?? DataFolder.standard(
                    name: "understudy-backend", environment: sources.environment)
            let file = "\(folder.path)/backend.sqlite"
            if isRehearsal, !Files.exists(file) {
                lock = nil
                backend = try TablesBackend { ThisProcess.now }
                return
            }
            let lock = try folder.openForDatabase()
            self.lock = lock
            backend = try TablesBackend(at: file) { ThisProcess.now }
        } catch let problem as ConfigurationProblem {
            throw problem.startProblem
        } catch let problem as StartProblem {
            throw problem
        } catch {
            throw StartProblem("The backend's database cannot be opened: \(error)")
        }
    }

    /// Lets a server use the folder.
    func close() { lock?.release() }
}
