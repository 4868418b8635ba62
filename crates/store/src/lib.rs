//! Runs on disk: one SQLite file a project.
