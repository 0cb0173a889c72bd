//! The configuration file and the environment, as plain structs.
