import ArgumentParser
import Proxy

/// What a person may have meant by the name of a command that there is not.
enum CommandSuggestion {
    /// The sentence for the first word that is no command; nil where no command is near.
    /// - Parameters:
    ///   - arguments: the words of the command line after the program's name.
    ///   - root: the command whose subcommands the words name.
    static func sentence(_ arguments: [String], in root: any ParsableCommand.Type) -> String? {
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
