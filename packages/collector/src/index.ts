/** The door of the package. Nothing else can be imported. */
export {}
