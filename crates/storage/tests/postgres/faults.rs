//! What happens when the database, or somebody else who uses it, stands in the way.
