/** The libraries that other teams install, in the order in which they stand on each other. */
export const LIBRARIES = ['limits-core', 'matrix-protocol', 'limits-redis', 'limits-nest'];
