/** The door of the server. */
export {}
