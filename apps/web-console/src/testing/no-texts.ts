/** The catalog of English in specs, whose code has the texts. */
export const messages = {};
