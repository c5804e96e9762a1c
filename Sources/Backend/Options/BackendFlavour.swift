/// Which real server the backend answers like.
public enum BackendFlavour: String, Sendable, Hashable, CaseIterable {
    /// First generation: `__` properties on request, integer-id tables, application key.
    case mobileServices = "1"
    /// Second generation without any server's peculiarities; the default.
    case mobileApps = "2"
    /// Second generation as the Node server answers, its quirks included.
    case node = "2-node"
    /// The Node server as an application of its own runs it: only the tables of a given list exist,
    /// they delete for good unless told otherwise, and a page has 1,000 rows.
    case express = "express"
    /// Second generation as the .NET server answers.
    case dotnet = "2-dotnet"
    /// Third generation, ASP.NET Core Datasync (v5, v6).
    case datasync = "3"
    /// Third generation, Community Toolkit (v8 and later).
    case toolkit = "3-toolkit"
}
