const MAX_CHARS = 150;
/** Separators of paths, characters that Windows refuses, and all that is not ASCII or can't be printed. */
const REFUSED = /[^\x20-\x7e]|[/\\:*?"<>|%;]/g;
const NOT_IN_NAMES = /[\p{Cc}\p{Cf}\p{Cs}/\\:*?"<>|]/gu;

/**
 * The header that lets a browser save a body under the name of a file from a disk, which anyone may have chosen: it can
 * neither leave the folder of downloads nor end the header. RFC 6266.
 */
export function attachment(name: string): string {
  const safe =
    [...name.replace(NOT_IN_NAMES, '_').replace(/^[.\s]+|[.\s]+$/g, '_')].slice(-MAX_CHARS).join('') || 'file';
  const plain = safe.replace(REFUSED, '_');
  const encoded = encodeURIComponent(safe).replace(
    /['()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`;
}

/**
 * The headers of a body that belongs to a stranger: no browser shows it, or guesses its type.
 * @param disposition as `attachment` returns it
 */
export const attachmentHeaders = (type: string, disposition: string): Readonly<Record<string, string>> => ({
  'content-type': type,
  'content-disposition': disposition,
  'x-content-type-options': 'nosniff',
  'content-security-policy': "sandbox; default-src 'none'",
  'cache-control': 'private, no-store',
});
