/** A catalog, compiled by the build. Specs have an empty one, because their code has the texts. */
declare module '*.po' {
  export const messages: import('@lingui/core').Messages;
}
