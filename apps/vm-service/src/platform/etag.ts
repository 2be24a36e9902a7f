/** Whether a client already has a body, by its `If-None-Match`. */
export const matchesEtag = (header: string | undefined, etag: string): boolean =>
  header !== undefined &&
  (header.trim() === '*' || header.split(',').some((one) => one.trim().replace(/^W\//, '') === etag));
