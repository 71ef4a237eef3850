"""Scene descriptions: what the user states, validated on construction. Imports only numpy, scipy and `errors`."""
