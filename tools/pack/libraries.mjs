/** The publishable libraries, each after its dependencies. */
export const LIBRARIES = ['limits-core', 'matrix-protocol', 'limits-redis', 'limits-nest'];
