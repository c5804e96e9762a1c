package import ArgumentParser
package import Platform
import TablesProtocol

extension AsyncParsableCommand {
    /// Parses the command line and runs the command. Ends the process with its exit code.
    /// - Parameter refusal: why the words of a command line are not for this program; nil where they are.
    package static func runAsProcess(
        refusing refusal: ([String]) -> StartProblem? = { _ in nil }
    ) async {
        ThisProcess.keepFilesPrivate()
        ThisProcess.raiseFileLimit()
        let words = Array(CommandLine.arguments.dropFirst())
        do {
            if let problem = refusal(words) { throw problem }
            var command = try await asyncParseAsRoot()
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch let problem as StartProblem {
            ThisProcess.sayLines("\(_commandName): \(problem.sentence)")
            ThisProcess.end(problem.exitCode.rawValue)
        } catch let status as ExitStatus {
            ThisProcess.end(status.rawValue)
        } catch {
            let text = fullMessage(for: error)
            if exitCode(for: error).isSuccess {
                ThisProcess.print(own: text)
                ThisProcess.end(ExitStatus.ok.rawValue)
            }
            let suggestion = CommandSuggestion.sentence(words, in: Self.self)
            ThisProcess.sayLines([text, suggestion].compactMap(\.self).joined(separator: "\n"))
            ThisProcess.end(ExitStatus.usage.rawValue)
        }
    }
}

extension CompletionKind {
    /// The raw values of a type.
    package static func words<Word: RawRepresentable & CaseIterable>(
        of type: Word.Type
    ) -> CompletionKind where Word.RawValue == String {
        .list(type.allCases.map(\.rawValue))
    }
}

/// What a person may have meant by the name of a command that there is not.
package enum CommandSuggestion {
    /// The sentence for the first word that is no command; nil where no command is near.
    /// - Parameters:
    ///   - arguments: the words of the command line after the program's name.
    ///   - root: the command whose subcommands the words name.
    package static func sentence(_ arguments: [String], in root: any ParsableCommand.Type)
        -> String?
    {
        var command = root
        var path = [root._commandName]
        for word in arguments {
            let inner = command.configuration.subcommands
            // What follows an option may be its value.
            guard !word.hasPrefix("-"), !inner.isEmpty else { return nil }
            if let next = inner.first(where: { $0._commandName == word }) {
                command = next
                path.append(word)
                continue
            }
            let names = inner.filter { $0.configuration.shouldDisplay }.map { $0._commandName }
            return NearestName.of(word, in: names).map {
                "Did you mean '\((path + [$0]).joined(separator: " "))'?"
            }
        }
        return nil
    }
}

/// What `version` says: the program's version, its commit, and the libraries that it has loaded.
package struct VersionReport {
    private let program: String
    private let libraries: [Library]

    package init(program: String, libraries: [Library]) {
        (self.program, self.libraries) = (program, libraries)
    }

    package func print(json: Bool) {
        if json {
            return ThisProcess.print(
                json: JSONValue.object([
                    .init("version", .string(Version.text)), .init("commit", .string(Commit.text)),
                    .init("libraries", JSONValue(answer: libraries)),
                ]).text)
        }
        ThisProcess.print("\(program) \(Version.text) (\(Commit.text))")
        for library in libraries { ThisProcess.print("\(library.name) \(library.version)") }
    }
}
